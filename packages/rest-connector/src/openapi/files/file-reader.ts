import { readFile, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, posix, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Download, type DownloadOptions } from './download.ts'
import { textOf } from './text-of.ts'

/** How the files of a document are called and had. */
export interface FileReader {
  /** The address of the document, after redirects. */
  readonly home: string
  readonly text: string
  /** Paths of the local files that were looked for. */
  readonly paths?: readonly string[]
  /** The address of what a file at `base` refers to; undefined: it is none. */
  locate(ref: string, base: string): string | undefined
  /** Text of another file of the document. Rejects with why it cannot be had. */
  read(address: string): Promise<string>
}

/**
 * Reads a document from a path. Its references reach the files in its folder and below, and the servers and folders that
 * the options name. Symbolic links out of a folder are refused: the document can come from a stranger.
 */
export async function openFile(
  path: string,
  documentUrl: string | undefined,
  download: DownloadOptions,
): Promise<FileReader> {
  const file = resolve(path)
  const home = pathToFileURL(file)
  const read = readerFor(undefined, undefined, download)
  const named = (download.origins ?? []).filter((place) => !/^https?:/i.test(place))
  const folders = [dirname(file), ...named.map((folder) => resolve(folder))]
  const paths = [file]
  return {
    home: home.href,
    text: textOf(await readFile(home)),
    paths,
    locate(ref, base) {
      const kept = documentUrl === undefined ? undefined : keptBeside(ref, base, { home, documentUrl })
      return kept ?? parsed(ref, base)?.href
    },
    async read(address) {
      if (!address.startsWith('file:')) return read(address)
      const wanted = fileURLToPath(address)
      const within = folders.find((folder) => isBelow(wanted, folder))
      if (within !== undefined) {
        paths.push(wanted)
        const real = await realpath(wanted)
        if (isBelow(real, await realpath(within))) return textOf(await readFile(real))
      }
      throw new Error(
        'the file, or the target of its symbolic link, is outside the folder of the document and the folders in download.origins; add the folder of the file to download.origins, or replace the link with the file',
      )
    },
  }
}

function isBelow(file: string, folder: string): boolean {
  const path = relative(folder, file)
  return path !== '' && path.split(sep)[0] !== '..' && !isAbsolute(path)
}

/** Reads a document from a URL. Files of the machine are none of its business. */
export async function openUrl(address: string, options: DownloadOptions): Promise<FileReader> {
  const asked = new URL(address)
  const download = new Download(asked.origin, options)
  const { url, text } = await download.get(asked, () => true)
  const read = readerFor(download, [asked.origin, url.origin], options)
  return { home: url.href, text, locate: (ref, base) => parsed(ref, base)?.href, read }
}

function readerFor(
  given: Download | undefined,
  own: readonly string[] = [],
  options: DownloadOptions,
): (address: string) => Promise<string> {
  const origins = new Set([...own, ...(options.origins ?? []).map((origin) => parsed(origin)?.origin)])
  let download = given
  return async (address) => {
    const url = new URL(address)
    if (!/^https?:$/.test(url.protocol))
      throw new Error(`the document must not refer to ${url.protocol} addresses; use an http: or https: URL`)
    if (!origins.has(url.origin))
      throw new Error(`files from ${url.origin} are not allowed; add this origin to download.origins`)
    download ??= new Download(undefined, options)
    return (await download.get(url, ({ origin }) => origins.has(origin))).text
  }
}

/**
 * Returns the address of the file that is kept of a server, for a reference that names the server or its
 * root: kept files lie as they lay there.
 */
function keptBeside(
  ref: string,
  base: string,
  { home, documentUrl }: { readonly home: URL; readonly documentUrl: string },
): string | undefined {
  const origin = parsed(documentUrl)
  const url = parsed(ref, documentUrl)
  const isOfServer = /^(https?:)?\//i.test(ref) && base.startsWith('file:')
  if (!isOfServer || !origin || url?.origin !== origin.origin) return undefined
  if (url.pathname === origin.pathname) return home.href + url.hash
  const path = posix.relative(posix.dirname(origin.pathname), url.pathname)
  return new URL(`./${path}${url.hash}`, home).href
}

function parsed(address: string, base?: string): URL | undefined {
  return URL.canParse(address, base) ? new URL(address, base) : undefined
}
