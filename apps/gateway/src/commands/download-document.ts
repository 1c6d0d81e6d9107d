import { lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { OpenApiOptions } from '@vinyasa/rest-connector'
import { ConfigError, messageOf } from '../errors.ts'
import { nameOf } from './init-grpc.ts'

/** The folder of downloaded documents, below that of the config. Each document has a folder of its own there. */
const FOLDER = 'openapi'

export interface DownloadedDocument {
  /** A name for its source. It is made of the address that the user gave, and of nothing that a server sent. */
  readonly name: string
  /** The document's own folder, relative to that of the config. */
  readonly folder: string
  /** All files of the document, the document first. */
  readonly files: readonly string[]
  /** The address that it came from, after redirects, without a query, which can hold a secret. */
  readonly url: string
  /** Files that it refers to and that are not kept, each with the reason. */
  readonly missing: readonly string[]
  /** Removes the folder again. */
  remove(): Promise<void>
}

/**
 * Keeps an OpenAPI document in a folder of its own, with the files of its server that it refers to, in the folders that
 * they have on the server. The folder must not exist, and only JSON and YAML is kept: the server is not trusted.
 * @throws ConfigError if the document cannot be downloaded or kept
 */
export async function downloadDocument(
  address: string,
  directory: string,
  options: NonNullable<OpenApiOptions['download']> = {},
): Promise<DownloadedDocument> {
  try {
    const { downloadOpenApi } = await import('@vinyasa/rest-connector')
    const { url, files, missing: failed } = await downloadOpenApi(address, options)
    const [text = ''] = files.values()
    const name = nameOf(basename(new URL(address).pathname) || FOLDER)
    const home = new URL(url)
    const ownName = `${name}.${/^\s*[{[]/.test(text) ? 'json' : 'yaml'}`
    const own = keptPath(home) ?? keptPath(new URL(ownName, home))
    const texts = new Map([[own ?? ownName, text]])
    const missing = [...failed].map(([one, reason]) => `${one}: ${reason}`)
    for (const [one, other] of [...files].slice(1)) {
      const at = new URL(one)
      const path = own !== undefined && at.origin === home.origin ? keptPath(at) : undefined
      // Addresses that differ only in their query are one file.
      if (path !== undefined && texts.has(path)) continue
      if (path === undefined)
        missing.push(
          `${one}: init saves only files whose paths contain no special characters and end with .json, .yaml or .yml; save the file by hand and correct the reference`,
        )
      else if ([...texts.keys()].some((known) => isSamePlace(known, path)))
        missing.push(
          `${one}: the path conflicts with the path of another file; save the file by hand and correct the reference`,
        )
      else texts.set(path, other)
    }
    const folder = join(FOLDER, name)
    const kept = withoutSharedFolders(texts)
    const remove = await keep(kept, folder, directory)
    return { name, folder, files: kept.map(([path]) => join(folder, path)), url, missing, remove }
  } catch (error) {
    throw new ConfigError(`init: ${messageOf(error)}`, { cause: error })
  }
}

/** Whether two paths are one on file systems that ignore case, or one would be a folder of the other. */
function isSamePlace(...paths: readonly [string, string]): boolean {
  const [one, other] = paths.map((path) => `${path.normalize('NFC').toLowerCase()}/`) as [string, string]
  return one.startsWith(other) || other.startsWith(one)
}

/** Leaves out the folders that all paths begin with. */
function withoutSharedFolders(texts: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  const folders = [...texts.keys()].map((path) => path.split('/').slice(0, -1))
  const [own = []] = folders
  let shared = 0
  while (shared < own.length && folders.every((folder) => folder[shared] === own[shared])) shared++
  return [...texts].map(([path, text]) => [path.split('/').slice(shared).join('/'), text])
}

/** Writes the files into the folder, which it creates. Returns a function that removes it. */
async function keep(
  files: readonly (readonly [string, string])[],
  folder: string,
  directory: string,
): Promise<() => Promise<void>> {
  const all = join(directory, FOLDER)
  const created = await mkdir(all, { recursive: true })
  if ((await lstat(all)).isSymbolicLink())
    throw new Error(`${all} is a symbolic link; replace it with a folder for the documents`)
  const target = join(directory, folder)
  await mkdir(target).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new Error(
          `cannot save the OpenAPI document, because ${target} exists already; remove it, or pass the path of a saved document to init instead of the URL`,
        )
      : error
  })
  const remove = (): Promise<void> => rm(created ?? target, { recursive: true, force: true })
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(join(target, path)), { recursive: true })
      await writeFile(join(target, path), text, { flag: 'wx' })
    }
  } catch (error) {
    await remove()
    throw error
  }
  return remove
}

/**
 * Returns the path on the server of a file that can be kept. Undefined if its name or that of a folder is hidden or has
 * other characters than those of plain names, if it is no JSON or YAML, or if a gateway would take it for its config.
 */
function keptPath({ pathname }: URL): string | undefined {
  try {
    const names = pathname.split('/').slice(1).map(decodeURIComponent)
    const isPlain = names.every((name) => /^[\p{L}\p{N}_-][\p{L}\p{N}\p{M} _.,@+()~-]*$/u.test(name))
    const isKept = /^(?!gateway\.config\.).+\.(?:json|ya?ml)$/i.test(names.at(-1) ?? '')
    return isPlain && isKept ? names.join('/') : undefined
  } catch {
    return undefined
  }
}
