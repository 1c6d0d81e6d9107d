import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { OpenApiOptions } from '@vinyasa/rest-connector'
import { ConfigError, messageOf } from '../errors.ts'

export interface DownloadedDocument {
  readonly file: string
  /** The address it came from, after redirects, without a query that may hold a secret. */
  readonly url: string
  /** Files that it refers to and that could not be had, each with the reason. */
  readonly missing: readonly string[]
  /** Takes all files away again. */
  remove(): Promise<void>
}

/**
 * Keeps an OpenAPI document in a folder, with the files of its server that it refers to, as they lie to each other. Never
 * over another file.
 * @throws ConfigError where the document cannot be had whole
 */
export async function downloadDocument(
  address: string,
  directory: string,
  options: NonNullable<OpenApiOptions['download']> = {},
): Promise<DownloadedDocument> {
  try {
    const { downloadOpenApi } = await import('@vinyasa/rest-connector')
    const { url, files, missing } = await downloadOpenApi(address, options)
    const home = new URL(url)
    const others = [...files.keys()].slice(1).map((one) => new URL(one))
    const isPlainHome = isPlainPath(new URL('x', home).pathname)
    const kept = others.filter(
      (one) => isPlainHome && one.origin === home.origin && isPlainPath(one.pathname),
    )
    const text = files.get(url) ?? ''
    const name = kept.length === 0 ? nameOf(address, text) : fileName(home) || nameOf(address, text)
    const texts = new Map([[new URL(name, home).pathname, text]])
    for (const one of kept) {
      // Addresses that differ in their query alone are one file.
      if (!texts.has(one.pathname)) texts.set(one.pathname, files.get(one.href) ?? '')
    }
    const { first, remove } = await keep(placed(texts), directory)
    return {
      file: first,
      url,
      missing: [
        ...[...missing].map(([one, reason]) => `${one}: ${reason}`),
        ...others.filter((one) => !kept.includes(one)).map((one) => `${one.href}: no file can be called so`),
      ],
      remove,
    }
  } catch (error) {
    throw new ConfigError(`init: ${messageOf(error)}`, { cause: error })
  }
}

interface Placed {
  /** Below the folder. */
  readonly path: string
  readonly text: string
}

/** All files as they lie to each other, below what is the same of their addresses. */
function placed(texts: ReadonlyMap<string, string>): readonly Placed[] {
  const folders = [...texts.keys()].map((path) => path.split('/').slice(0, -1))
  const [own = []] = folders
  let shared = 0
  while (shared < own.length && folders.every((folder) => folder[shared] === own[shared])) shared++
  return [...texts].map(([path, text]) => ({
    path: join(...path.split('/').slice(shared).map(decodeURIComponent)),
    text,
  }))
}

/** Writes the files; the function takes away what was written. */
async function keep(
  files: readonly Placed[],
  directory: string,
): Promise<{ readonly first: string; readonly remove: () => Promise<void> }> {
  const written: string[] = []
  const remove = async (): Promise<void> => {
    for (const path of written.toReversed()) await rm(path, { recursive: true, force: true })
  }
  try {
    for (const { path, text } of files) {
      const file = join(directory, path)
      const made = await mkdir(dirname(file), { recursive: true })
      if (made !== undefined) written.push(made)
      await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST'
          ? new Error(`${file} exists already; use it, or remove it first`)
          : error
      })
      written.push(file)
    }
  } catch (error) {
    await remove()
    throw error
  }
  return { first: join(directory, files[0]?.path ?? ''), remove }
}

/** Each segment is one file or folder, and no hidden one. */
function isPlainPath(pathname: string): boolean {
  return pathname.split('/').slice(1).every(isPlainName)
}

function isPlainName(segment: string): boolean {
  let name
  try {
    name = decodeURIComponent(segment)
  } catch {
    return false
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  return !/^\.|[/\\:\u0000-\u001f]|^$/.test(name)
}

/** The name that its own files may refer to it by, if it is one of a document. */
function fileName(url: URL): string {
  const name = basename(url.pathname)
  return /^[\w-][\w.-]*\.(json|ya?ml)$/i.test(name) ? name : ''
}

function nameOf(address: string, text: string): string {
  const isJson = /^\s*[{[]/.test(text.slice(0, 1024))
  const given = basename(new URL(address).pathname)
    .replace(/\.(json|ya?ml)$/i, '')
    .replaceAll(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '')
  return `${given || 'openapi'}.${isJson ? 'json' : 'yaml'}`
}
