import { isRecord } from '@vinyasa/core'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'

/** Folders that hold no protos of one's own, and many others. */
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'target', 'vendor'])
const MAX_FOLDERS = 2_000
const MAX_FILES = 5_000

export interface ProtoRoots {
  readonly includePaths: readonly string[]
  /** The files that were found there: those that the file imports, and theirs. */
  readonly imported: readonly string[]
}

/**
 * The folders from which a proto file's imports, and theirs, are found: those that a `buf.yaml` or `buf.work.yaml`
 * above it names, those above the importing file, and last any below the directory. What is found nowhere is left out:
 * it may come with the gateway, or be needed by nobody.
 */
export async function findProtoRoots(file: string, directory: string): Promise<ProtoRoots> {
  const roots = new Set<string>()
  const declared = await bufRoots(dirname(file))
  let below: Promise<readonly string[]> | undefined
  const pending = [file]
  const seen = new Set(pending)

  async function rootOf(importPath: string, from: string): Promise<string | undefined> {
    const near = [...roots, ...declared, ...ancestors(dirname(from))]
    const holds = (folder: string): boolean => existsSync(join(folder, importPath))
    return near.find(holds) ?? (await (below ??= foldersBelow(directory))).find(holds)
  }

  for (let next = pending.pop(); next !== undefined && seen.size < MAX_FILES; next = pending.pop()) {
    for (const importPath of importsOf(await readFile(next, 'utf8'))) {
      const root = await rootOf(importPath, next)
      if (root === undefined) continue
      roots.add(root)
      const found = resolve(root, importPath)
      if (!seen.has(found)) pending.push(found)
      seen.add(found)
    }
  }
  if (roots.size === 0) roots.add(declared.find((root) => isInside(file, root)) ?? dirname(file))
  return {
    includePaths: [...roots].map((root) => relative(directory, root) || '.'),
    imported: [...seen].slice(1),
  }
}

/** Whether a proto file has a service of its own. */
export async function hasService(file: string): Promise<boolean> {
  return /(?<=^|[;{}])\s*service\s+\w+\s*\{/m.test(codeOf(await readFile(file, 'utf8')))
}

function importsOf(text: string): string[] {
  return [...codeOf(text).matchAll(/(?<=^|;)\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"\s*;/gm)].flatMap(
    ([, path]) => path ?? [],
  )
}

/** The text without comments. What looks like one in a string is none. */
function codeOf(text: string): string {
  const stringsAndComments = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*/g
  return text.replace(stringsAndComments, (found) => (found.startsWith('/') ? ' ' : found))
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

function isInside(file: string, folder: string): boolean {
  const path = relative(folder, file)
  return path !== '' && !path.startsWith('..')
}

/**
 * Returns the folders that each `buf.work.yaml` and `buf.yaml` in a folder and above it names, nearest first:
 * directories of version 1, modules of version 2.
 */
async function bufRoots(folder: string): Promise<string[]> {
  const roots: string[] = []
  for (const ancestor of ancestors(folder)) {
    for (const name of ['buf.work.yaml', 'buf.yaml']) {
      const path = join(ancestor, name)
      if (!existsSync(path)) continue
      const config = await readYaml(path)
      const listed = [config['directories'], config['modules']].flat()
      const paths = listed.map((item) => (isRecord(item) ? item['path'] : item))
      const folders = paths.filter((item) => typeof item === 'string')
      roots.push(...(folders.length > 0 ? folders : ['.']).map((item) => resolve(ancestor, item)))
    }
  }
  return roots
}

async function readYaml(path: string): Promise<Record<string, unknown>> {
  try {
    const config: unknown = parseYaml(await readFile(path, 'utf8'))
    return isRecord(config) ? config : {}
  } catch {
    // Not this command's file to complain of.
    return {}
  }
}

/** Nearest first. */
export async function foldersBelow(directory: string): Promise<readonly string[]> {
  const folders = [directory]
  for (let index = 0; index < folders.length && folders.length < MAX_FOLDERS; index += 1) {
    const folder = folders[index] ?? directory
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name))
        folders.push(join(folder, entry.name))
    }
  }
  return folders
}
