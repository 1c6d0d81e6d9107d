import {
  atLeast,
  backgroundClock,
  isRecord,
  type KnownOptions,
  parsePeerJson,
  refuseWrongOptions,
  sleep,
} from '@vinyasa/core'
import type { FetchAPI, Plugin } from 'graphql-yoga'
import { badUploadRequest, clientLeft, unusableUpload, uploadTooLarge } from '../errors.ts'
import {
  type MultipartLimits,
  type MultipartParts,
  openMultipart,
  type PartBytes,
} from './multipart-parts.ts'
import { type FileQueue, WaitingFile } from './uploaded-file.ts'

interface UploadLimits extends Omit<MultipartLimits, 'maxFields'> {
  readonly maxIdleMs: number
  /** The request whose bytes are counted; see `streamBody`. */
  readonly incoming: object
}

/** The operations with their files, and a function that discards unread files. */
interface ReadUploads {
  readonly operations: object
  discard(): void
}

/** The fields `operations` and `map`, and custom fields of the client. */
const MAX_FIELDS = 20

/**
 * Reads a GraphQL multipart request up to its first file. Resolvers read the files. Rejects with a GraphQLError of
 * status 400 or 413 if the request is invalid.
 */
async function readUploads(request: Request, limits: UploadLimits): Promise<ReadUploads> {
  const { maxFileBytes, maxFiles, maxFieldBytes, maxIdleMs, incoming } = limits
  const announced = Number(request.headers.get('content-length') ?? 0)
  const most = maxFiles * maxFileBytes + 3 * maxFieldBytes
  if (announced > most) throw uploadTooLarge('The request', most)
  const files = new Map<string, WaitingFile>()
  const inOrder: WaitingFile[] = []
  let isDiscarded = false

  const queue: FileQueue = {
    maxFileBytes,
    incoming,
    async untilReached(file, arrival) {
      while (!file.hasArrived) {
        const idle = sleep(backgroundClock, maxIdleMs).then(() => false)
        const isThere = await Promise.race([arrival.then(() => true), idle])
        if (!isThere && inOrder.some((other) => other.isInTheWay))
          throw unusableUpload(
            `An uploaded file did not arrive within ${maxIdleMs} ms, because an earlier file of the request was not read. Send the files in the order in which resolvers read them.`,
          )
      }
      await arrival
    },
  }

  let refuse: (error: unknown) => void = () => {}
  const refused = new Promise<never>((_, reject) => (refuse = reject))
  refused.catch((error: unknown) => {
    for (const file of files.values()) file.fail(error)
  })
  let operations: object | undefined
  let hasMap = false
  let ready: (uploads: ReadUploads) => void = () => {}
  const read = new Promise<ReadUploads>((resolve) => (ready = resolve))

  function onField(name: string, value: string, isCut: boolean): void {
    if (name !== 'operations' && name !== 'map') return
    if (isCut) throw uploadTooLarge(`The part "${name}"`, maxFieldBytes)
    if (name === 'operations') {
      if (operations) throw badUploadRequest('it has two parts named "operations"')
      operations = parseOperations(value)
      return
    }
    if (!operations) throw badUploadRequest('"map" precedes "operations"')
    if (hasMap) throw badUploadRequest('it has two parts named "map"')
    hasMap = true
    for (const [key, paths] of parseMap(value, maxFiles)) {
      const file = new WaitingFile(queue)
      files.set(key, file)
      for (const path of paths) place(operations, path, file)
    }
  }

  function onFile(key: string, bytes: PartBytes, name: string | undefined, type: string): void {
    const file = files.get(key)
    // Files that no operation uses, and repeated names, are skipped.
    if (!file || file.hasArrived || isDiscarded) bytes.resume()
    if (!operations || !hasMap) throw badUploadRequest('a file precedes "map"')
    if (!file || file.hasArrived) return
    inOrder.push(file)
    file.attach({ bytes, name: name ?? '', type })
    begin()
  }

  function begin(): void {
    if (!operations) throw badUploadRequest('it has no part named "operations"')
    ready({
      operations,
      discard() {
        isDiscarded = true
        for (const file of files.values()) file.discard()
      },
    })
  }

  function onEnd(): void {
    begin()
    const missing = unusableUpload(
      'The request does not contain a file that "map" refers to. Send a file for each key of "map".',
    )
    for (const file of files.values()) if (!file.hasArrived) file.fail(missing)
  }

  const contentType = request.headers.get('content-type') ?? ''
  const parts = await openMultipart(
    contentType,
    { ...limits, maxFields: MAX_FIELDS },
    { onField, onFile, onError: refuse, onEnd },
  )
  feed(request, parts, refused).catch(refuse)
  return Promise.race([read, refused])
}

/** Feeds the parser at the speed at which files are read. The rest of a refused body is skipped. */
async function feed(request: Request, parts: MultipartParts, refused: Promise<never>): Promise<void> {
  let isRefused = false
  const untilRefused = refused.catch(() => void (isRefused = true))
  // `for await` is not used, because an early exit would cancel the stream and the socket that sends the response.
  const reader = request.body?.getReader()
  for (let next = await read(reader); next && !next.done; next = await read(reader))
    if (!isRefused) await Promise.race([parts.write(next.value), untilRefused])
  if (!isRefused) parts.end()
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<ReadableStreamReadResult<Uint8Array> | undefined> {
  try {
    return await reader?.read()
  } catch {
    throw clientLeft()
  }
}

export interface UploadOptions {
  /** Maximum bytes of one file. A larger file ends its stream with an error. Default 100,000,000. */
  readonly maxFileBytes?: number | undefined
  /** Maximum number of files in a request, and of their places in `operations`. Default 10. */
  readonly maxFiles?: number | undefined
  /** Maximum bytes of `operations` and of `map`. Default 1,000,000. */
  readonly maxFieldBytes?: number | undefined
  /** Milliseconds to wait for a file that follows an unread file, because files arrive in order. Default 10,000. */
  readonly maxIdleMs?: number | undefined
}

const NAMES: KnownOptions<UploadOptions> = {
  maxFileBytes: atLeast(0),
  maxFiles: atLeast(0),
  maxFieldBytes: atLeast(0),
  maxIdleMs: atLeast(0),
}

/**
 * Streams the files of GraphQL multipart requests. An operation starts when its first file starts to arrive.
 * Resolvers receive an `UploadedFile`, and the connection is read at the speed of the resolver. Place it after
 * plugins that read request bodies. Yoga's `maxRequestBodySize` applies too.
 */
export function useUploads(options: UploadOptions = {}): Plugin {
  refuseWrongOptions('useUploads', options, NAMES)
  const { maxFileBytes = 100_000_000, maxFiles = 10, maxFieldBytes = 1_000_000, maxIdleMs = 10_000 } = options
  const limits = { maxFileBytes, maxFiles, maxFieldBytes, maxIdleMs }
  const running = new WeakMap<Request, ReadUploads>()
  return {
    onRequestParse({ request, serverContext, setRequestParser }) {
      const [type = ''] = (request.headers.get('content-type') ?? '').split(';', 1)
      if (request.method !== 'POST' || type.trim().toLowerCase() !== 'multipart/form-data') return
      setRequestParser(async (read) => {
        const { req: incoming = {} } = serverContext as { readonly req?: object }
        const uploads = await readUploads(read, { ...limits, incoming })
        running.set(request, uploads)
        return uploads.operations as never
      })
    },
    onResponse({ request }) {
      // Unread files are skipped. Otherwise the connection could not be reused.
      running.get(request)?.discard()
    },
  }
}

/** The positions of files in the operations, by the names of the parts. */
type UploadMap = ReadonlyMap<string, readonly string[]>

export function parseOperations(text: string): object {
  const value = parsed(text, 'operations')
  if (typeof value !== 'object' || value === null)
    throw badUploadRequest('"operations" is not a JSON object or list')
  return value
}

export function parseMap(text: string, maxFiles: number): UploadMap {
  const value = parsed(text, 'map')
  if (!isRecord(value) || !Object.values(value).every(isListOfText))
    throw badUploadRequest('"map" is not a JSON object whose values are lists of paths')
  const map = new Map(Object.entries(value) as [string, readonly string[]][])
  if ([...map.values()].flat().length > maxFiles || map.size > maxFiles)
    throw badUploadRequest(`"map" has more than ${maxFiles} files or paths`)
  return map
}

const MAX_PATH_CHARACTERS = 10_000

/** Places a file at its path, e.g. `variables.files.0`, or `1.variables.file` in a list of operations. */
export function place(operations: object, path: string, file: unknown): void {
  const steps = path.slice(0, MAX_PATH_CHARACTERS).split('.')
  const last = steps.pop() as string
  let value: unknown = operations
  for (const step of steps) value = memberOf(value, step)
  if (path.length > MAX_PATH_CHARACTERS || memberOf(value, last) !== null)
    throw badUploadRequest(
      `the path "${path.slice(0, 100)}" in "map" must point to a null value in "operations", and each value can be used only once`,
    )
  ;(value as Record<string, unknown>)[last] = file
}

function memberOf(value: unknown, step: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as Record<string, unknown>)[step]
    : undefined
}

function parsed(text: string, part: string): unknown {
  try {
    return parsePeerJson(text)
  } catch {
    throw badUploadRequest(`"${part}" is not valid JSON, or has more than 20,000 levels or 100,000 items`)
  }
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Each part creates a map entry. Typical forms have a few parts. */
const MAX_PARTS = 1_000

/**
 * Parses a complete multipart body, with the result of `request.formData()`. If a name occurs more than once, the
 * last part counts. Rejects with a GraphQLError of status 400 if the body is invalid or a part has no name. Yoga's
 * own parser can hang on such bodies.
 */
export function readFormData(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  fetchAPI: Pick<FetchAPI, 'FormData' | 'File'>,
): Promise<FormData> {
  const form = new fetchAPI.FormData()
  // No part is larger than the body.
  const most = body.byteLength + 1
  const limits = { maxFieldBytes: most, maxFields: MAX_PARTS, maxFileBytes: most, maxFiles: MAX_PARTS }
  return new Promise((resolve, reject) => {
    const parts = openMultipart(contentType, limits, {
      onField: (name, value) => form.set(name, value),
      onFile(name, bytes, fileName, type) {
        const chunks: Uint8Array<ArrayBuffer>[] = []
        bytes.on('data', (chunk: Uint8Array<ArrayBuffer>) => chunks.push(chunk))
        bytes.on('end', () => form.set(name, new fetchAPI.File(chunks, fileName ?? '', { type })))
      },
      onError: reject,
      onEnd: () => resolve(form),
    })
    parts.then((opened) => opened.write(body).then(() => opened.end())).catch(reject)
  })
}
