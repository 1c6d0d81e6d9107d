import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createJiti } from 'jiti'
import { compileApart } from './compile-apart.ts'
import { importsOf } from './imports.ts'
import { ownPackages, refuseOtherGraphql } from './own-packages.ts'

export interface ModuleRead {
  readonly value: unknown
  /** The config and what it imports by path. */
  readonly files: readonly string[]
}

/** Runs a config of code. `@vinyasa/gateway`, `graphql` and `graphql-yoga` are the gateway's own, wherever it lies. */
export async function importModule(file: string): Promise<ModuleRead> {
  const folder = cacheFolder(file)
  if (folder !== undefined && /\.m?ts$/.test(file)) await compileApart(file, folder)
  // jiti reads TypeScript on every supported Node, and reads the file anew on each reload.
  const options = { moduleCache: false, fsCache: folder ?? false, interopDefault: true }
  const resolver = createJiti(import.meta.url, options)
  const { files, packages } = await importsOf(file, resolver)
  for (const { specifier, importer } of packages) refuseOtherGraphql(specifier, importer)
  const jiti = createJiti(import.meta.url, { ...options, alias: { ...ownPackages(resolver) } })
  const value: unknown = await jiti.import(file, { default: true })
  return { value, files }
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
