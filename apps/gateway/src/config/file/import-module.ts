import { existsSync, mkdirSync } from 'node:fs'
import nodeModule, { isBuiltin } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createJiti, type Jiti, type JitiOptions, type TransformOptions } from 'jiti'
import { createJitiAnew } from './jiti-anew.ts'
import { ownPackages, refuseOtherGraphql } from './own-packages.ts'
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Imports, exports and requires as they are written; what stands in a comment does no harm. */
const SPECIFIER =
  /(?:\bfrom|\bimport|\b(?:import|require)\s*\()\s*(?<quote>['"`])(?<specifier>[^'"`\n$]+)\k<quote>/g
const MAX_FILES = 1_000

/** Runs in the thread; text, as the thread has no file of its own where the gateway is run from its sources. */
const COMPILE = `
  const { jiti, folder, file } = require('node:worker_threads').workerData
  require(jiti)(folder, { fsCache: folder }).transform(file)
`

/**
 * Puts the JavaScript of a TypeScript module into jiti's cache, unless it is there. It is compiled in a thread of its
 * own: the compiler takes a fifth of a gateway's memory, which is given back when the thread ends. Whatever goes wrong
 * there is left to jiti, which then compiles by itself and says what is wrong.
 */
async function compileApart(filename: string, folder: string): Promise<void> {
  const file: TransformOptions = { filename, source: await readFile(filename, 'utf8'), ts: true, async: true }
  if (isCached(file, { fsCache: folder })) return
  const workerData = { jiti: nodeModule.createRequire(import.meta.url).resolve('jiti'), folder, file }
  const worker = new Worker(COMPILE, { eval: true, execArgv: [], workerData, stderr: true })
  worker.once('error', () => {})
  await once(worker, 'exit').catch(() => {})
}

function isCached(file: TransformOptions, options: JitiOptions): boolean {
  let isCompiled = true
  const transform = (): never => {
    isCompiled = false
    throw new Error('not cached')
  }
  try {
    createJiti(import.meta.url, { ...options, transform }).transform(file)
  } catch {
    // The transform's own error, or a cache that cannot be read.
  }
  return isCompiled
}

/**
 * Reads the imports of a config without running it: the module with all files that it imports by path, directly or not,
 * and the packages that these files import by name, each with the importing file.
 */
async function importsOf(file: string, jiti: Jiti) {
  const files = [file]
  const packages: { specifier: string; importer: string }[] = []
  for (const importer of files) {
    const text = await readFile(importer, 'utf8').catch(() => '')
    for (const { groups } of text.matchAll(SPECIFIER)) {
      const specifier = groups?.['specifier'] ?? ''
      if (isBuiltin(specifier)) continue
      if (!/^(?:\.|\/|file:)/.test(specifier)) {
        packages.push({ specifier, importer })
        continue
      }
      const found = jiti.esmResolve(specifier, { parentURL: pathToFileURL(importer), try: true })
      if (!found?.startsWith('file:') || files.length >= MAX_FILES) continue
      const path = fileURLToPath(found)
      if (!files.includes(path) && !isPackage(path, importer)) files.push(path)
    }
  }
  return { files, packages }
}

/** Whether the way to it leads into a package, which stays as it was read first, with what it imports. */
function isPackage(path: string, importer: string): boolean {
  return relative(dirname(importer), path).split(sep).includes('node_modules')
}

export interface ModuleRead {
  readonly value: unknown
  /** The config and what it imports by path. */
  readonly files: readonly string[]
}

/** Files that Node's own import has read: it gives what they said then, whatever they say by now. */
const known = new Set<string>()

/** Runs a config of code. `@vinyasa/gateway`, `graphql` and `graphql-yoga` are the gateway's own, wherever it lies. */
export async function importModule(file: string): Promise<ModuleRead> {
  const folder = cacheFolder(file)
  if (folder !== undefined && /\.m?ts$/.test(file)) await compileApart(file, folder)
  // jiti reads TypeScript on every supported Node.
  const options = { moduleCache: false, fsCache: folder ?? false, interopDefault: true }
  const resolver = createJiti(import.meta.url, options)
  const { files, packages } = await importsOf(file, resolver)
  for (const { specifier, importer } of packages) refuseOtherGraphql(specifier, importer)
  const before = new Set(files.filter((one) => known.has(one)))
  const isNative = (id: string | URL): boolean => !before.has(pathOf(id))
  const jiti = createJitiAnew({ ...options, alias: { ...ownPackages(resolver) } }, isNative)
  const { cache } = nodeModule.createRequire(import.meta.url)
  for (const one of files) {
    known.add(one)
    // JSON is there, which jiti does not take out of it.
    delete cache[one]
  }
  const value: unknown = await jiti.import(file, { default: true })
  return { value, files }
}

function pathOf(id: string | URL): string {
  return String(id).startsWith('file:') ? fileURLToPath(id) : String(id)
}

/**
 * Returns the folder that keeps the JavaScript of a TypeScript config, so that the next start does not load a
 * compiler: beside the packages that the config imports, never in a folder for temporary files, which others
 * may write. The config may hold secrets, so nobody else may look into it. Undefined where there is no such
 * folder.
 */
function cacheFolder(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules')
    if (existsSync(packages)) return makeFolder(join(packages, '.cache', 'vinyasa'))
    if (folder === dirname(folder)) return undefined
  }
}

function makeFolder(path: string): string | undefined {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  } catch {
    // An image or a package that cannot be written: every start compiles.
    return undefined
  }
}
