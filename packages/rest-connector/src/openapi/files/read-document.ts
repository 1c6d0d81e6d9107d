import { RestConfigError } from '../../errors.ts'
import {
  asNode,
  asText,
  createDocument,
  splitOnce,
  type Node,
  type OpenApiDocument,
  type ReadFiles,
} from '../openapi-document.ts'
import { createDownload, DownloadEnded, textOf, type Download, type DownloadOptions } from './download.ts'
import { fromSwagger2 } from './swagger-2.ts'
import { readFile, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, posix, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** How the files of a document are called and had. */
interface FileReader {
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
async function openFile(
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
async function openUrl(address: string, options: DownloadOptions): Promise<FileReader> {
  const asked = new URL(address)
  const download = createDownload(asked.origin, options)
  const { url, text } = await download(asked, () => true)
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
    download ??= createDownload(undefined, options)
    return (await download(url, ({ origin }) => origins.has(origin))).text
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

export interface ReadOptions {
  /** The URL that a document came from which is given as a file. */
  readonly documentUrl?: string | undefined
  readonly download?: DownloadOptions | undefined
  /** Sees the text of each file, with its address. */
  readonly onText?: ((address: string, text: string) => void) | undefined
}

/**
 * Reads a document, given as an object or as the path or URL of a JSON or YAML file, and the files that it refers to.
 * Swagger 2 becomes OpenAPI 3. @throws RestConfigError where there is no such document
 */
export async function readDocument(
  source: object | string,
  options: ReadOptions = {},
): Promise<OpenApiDocument> {
  try {
    if (typeof source === 'string') return await readFiles(source, options)
    return asOpenApi3({ root: asNode(source), files: new Map(), missing: new Map() })
  } catch (cause) {
    const [name = ''] = typeof source !== 'string' ? [] : isAddress(source) ? source.split(/[?#]/) : [source]
    const place = name && `${name}: `
    throw new RestConfigError(`the OpenAPI document cannot be read: ${place}${reasonOf(cause)}`, { cause })
  }
}

async function readFiles(
  source: string,
  { documentUrl, download = {}, onText }: ReadOptions,
): Promise<OpenApiDocument> {
  const isUrl = isAddress(source)
  const reader = await (isUrl ? openUrl(source, download) : openFile(source, documentUrl, download))
  const given = asNode(await parse(reader.text))
  onText?.(reader.home, reader.text)
  const { files, missing } = await readReferred(given, reader, onText)
  return asOpenApi3({
    root: given,
    files,
    missing,
    ...(isUrl ? { url: reader.home } : { paths: reader.paths }),
  })
}

/** @throws Error where it is neither OpenAPI 3 nor Swagger 2 */
function asOpenApi3(read: ReadFiles): OpenApiDocument {
  const document = createDocument(read)
  if (String(read.root['swagger']).startsWith('2'))
    return createDocument({ ...read, root: fromSwagger2(document), swagger2: read.root })
  if (asText(read.root['openapi'])?.startsWith('3.')) return document
  throw new Error('expected OpenAPI 3 or Swagger 2, but the version is missing or not supported')
}

/** A URL to download from, and no path. */
function isAddress(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

/** Returns the reason of a failure; only its cause tells what a failure of the network was. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof RangeError)
    return 'the content is nested too deeply; use $ref for parts that contain themselves'
  const { cause } = error
  if (!(cause instanceof Error) || error instanceof DownloadEnded) return error.message
  return `${error.message}: ${cause.message || String((cause as NodeJS.ErrnoException).code)}`
}

/** JSON is read as such: of large documents YAML takes many times as long. */
async function parse(text: string): Promise<unknown> {
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text)
    } catch {
      // YAML in flow style.
    }
  }
  const { CORE_SCHEMA, load, mergeTag } = await import('js-yaml')
  try {
    return load(text, { schema: CORE_SCHEMA.withTags(mergeTag), json: true })
  } catch (error) {
    return parseLeniently(text, error)
  }
}

/**
 * Parses what many readers take although the specification refuses it: a bracket that closes where its key
 * begins, tags that nobody knows, control characters. It is slow, and so used for these alone.
 * @throws `refusal` for what is no YAML to anybody
 */
async function parseLeniently(text: string, refusal: unknown): Promise<unknown> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { logLevel: 'error', merge: true, uniqueKeys: false })
  if (document.errors.length > 0) throw refusal
  try {
    // Aliases stand for one object however often they come.
    return document.toJS({ maxAliasCount: -1 })
  } catch {
    throw refusal
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** All other files that a file refers to, directly or not, by their addresses. References in them are made absolute. */
async function readReferred(
  root: Node,
  { home, locate, read }: FileReader,
  onText: ReadOptions['onText'],
): Promise<Pick<ReadFiles, 'files' | 'missing'>> {
  const files = new Map<string, unknown>()
  /** The files that cannot be had cost only what refers to them. */
  const missing = new Map<string, string>()
  const seen = new Set<string>()
  /** Schemas that are there under names of their own. */
  const ids = new Set<unknown>()
  const waiting: string[] = []

  /** Lists the files below a value; in files other than the root, references become absolute. */
  function visit(top: unknown, base: string): void {
    // Aliases of YAML have one object stand in many places, its own among them; files nest as deep as they like.
    const found = new Set<object>(isObject(top) ? [top] : [])
    for (const value of found) {
      visitOne(value, base)
      for (const member of Object.values(value)) if (isObject(member)) found.add(member)
    }
  }

  function visitOne(value: object, base: string): void {
    const { $ref: ref, $id: id } = value as { $ref?: unknown; $id?: unknown }
    if (base === home) ids.add(id)
    if (typeof ref === 'string' && (base !== home || !ref.startsWith('#'))) {
      const [address, pointer] = splitOnce(locate(ref, base) ?? ref, '#')
      const fragment = pointer === '' && address !== home ? '' : `#${pointer}`
      ;(value as { $ref?: unknown }).$ref = address === home ? fragment : address + fragment
      if (address !== home && URL.canParse(address) && !seen.has(address)) {
        seen.add(address)
        waiting.push(address)
      }
    }
  }

  visit(root, home)
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (ids.has(address)) continue
    try {
      const text = await read(address)
      const value = await parse(text)
      onText?.(address, text)
      files.set(address, value)
      visit(value, address)
    } catch (error) {
      if (error instanceof DownloadEnded) throw error
      missing.set(address, reasonOf(error))
    }
  }
  return { files, missing }
}
