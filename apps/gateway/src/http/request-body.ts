import { createTurns, keyedByHeader, ownerOf, SLICE_BYTES, unlessAborted } from '@vinyasa/core'
import { readFormData } from '@vinyasa/node-handler'
import { type BufferedRequest, type Behaviour, withBehaviour } from '@vinyasa/core/pipeline'
import { GraphQLError } from 'graphql'
import type { FetchAPI, Plugin, YogaServer } from 'graphql-yoga'
import { limitJson, type JsonLimits } from '../limits/json-limits.ts'
import { badRequest, requestRefused } from './errors.ts'

export interface RequestBodyOptions extends JsonLimits {
  /** Bytes that a body may have, whether its length is announced or not. */
  readonly maxBytes: number
}

const JSON_TYPES = new Set(['application/json', 'application/graphql+json'])
const isJson = keyedByHeader((contentType) => JSON_TYPES.has(mediaTypeOf(contentType)))
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads request bodies within a limit (HTTP 413), as valid UTF-8 and JSON (HTTP 400), with messages of its own:
 * what a parser says about the text stays here. Takes the place of Yoga's `maxRequestBodySize`, which sends every
 * body through one more stream.
 */
export function useRequestBody(options: RequestBodyOptions): Plugin {
  const { maxBytes } = options
  /** What long texts say takes long to read, validate and refuse: one at a time, with other work in between. */
  const turns = createTurns()
  const maxAtOnce = Math.min(maxBytes, SLICE_BYTES)
  const parseWithinLimits = (body: Uint8Array): object => {
    limitJson(body, options)
    return parseJson(body)
  }
  const readJson = async (request: Request, context: object): Promise<object> => {
    const body = await readBody(request, maxBytes)
    // Otherwise the body of a client that left would stay in memory until its turn.
    if (body.byteLength > maxAtOnce)
      await unlessAborted(turns.next(ownerOf(context)), request.signal, clientLeft)
    return parseWithinLimits(body)
  }
  const behaviour: Behaviour = {
    checkRequest({ method, headers }) {
      if (method !== 'POST') return
      const encoding = headers.get('content-encoding')
      if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
        throw requestRefused(
          415,
          'UNSUPPORTED_MEDIA_TYPE',
          'The Content-Encoding of the request body is not supported. Send the body without compression.',
        )
      }
    },
    checkBodySize(bytes) {
      if (bytes > maxBytes) throw tooLarge(maxBytes)
    },
    wrapParser(parse, request, context) {
      if (request.method !== 'POST') return (given) => malformedAs400(async () => parse(given))
      if (isJson(request.headers.get('content-type') ?? '')) {
        return (given) => {
          const { lightState } = given as Partial<BufferedRequest>
          const received = lightState?.request ? undefined : lightState?.received
          return received ? parseWithinLimits(received) : readJson(given, context)
        }
      }
      return async (given) => {
        const { url, method, headers, signal } = given
        const contentType = headers.get('content-type') ?? ''
        const bytes = await readBody(given, maxBytes)
        const isForm = mediaTypeOf(contentType) === 'multipart/form-data'
        const body = isForm ? await readFormData(bytes, contentType, fetchAPI()) : bytes
        const buffered = new (fetchAPI().Request)(url, { method, headers, signal, body })
        return malformedAs400(async () => parse(buffered))
      }
    },
  }
  let yoga: YogaServer<object, object> | undefined
  const fetchAPI = (): FetchAPI => (yoga as YogaServer<object, object>).fetchAPI
  return withBehaviour({ onYogaInit: (payload) => void ({ yoga } = payload as never) }, behaviour)
}

/** The media type without its parameters, in lower case; empty if there is none. */
export function mediaTypeOf(contentType: string | null | undefined): string {
  return (contentType ?? '').split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? ''
}

async function malformedAs400<T>(parse: () => Promise<T>): Promise<T> {
  try {
    return await parse()
  } catch (error) {
    if (error instanceof GraphQLError) throw error
    throw badRequest(
      'The request cannot be parsed; `variables` and `extensions`, or `operations` and `map` in a multipart form, must be valid JSON.',
    )
  }
}

/** The bytes of the body. Throws as soon as there are more than `maxBytes`, without reading the rest. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const buffered = request as Partial<BufferedRequest>
  // node-handler limits the size of these bodies by `checkBodySize`.
  if (buffered.lightState && !buffered.lightState.request) {
    const bytes = await unlessLeft(buffered.lightState.read())
    return bytes as Uint8Array<ArrayBuffer>
  }
  const announced = request.headers.get('content-length')
  if (announced !== null) {
    if (!/^\d+$/.test(announced)) throw badRequest('Content-Length is not a number.')
    if (Number(announced) > maxBytes) throw tooLarge(maxBytes)
    // The HTTP parser lets no more through than was announced.
    return new Uint8Array(await unlessLeft(request.arrayBuffer()))
  }
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  // Not `for await`: leaving it early would cancel the stream, and with it the socket that is to carry the answer.
  const reader = request.body.getReader()
  for (let next = await unlessLeft(reader.read()); !next.done; next = await unlessLeft(reader.read())) {
    size += next.value.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(next.value)
  }
  return Buffer.concat(chunks)
}

async function unlessLeft<Read>(reading: Promise<Read>): Promise<Read> {
  try {
    return await reading
  } catch (error) {
    // A limit, or a body that somebody else has read.
    if (error instanceof GraphQLError || error instanceof TypeError) throw error
    throw clientLeft()
  }
}

/** Nothing but the end of the connection: nobody's fault, and nothing to log. */
function clientLeft(): DOMException {
  return new DOMException('The client left', 'AbortError')
}

function tooLarge(maxBytes: number): GraphQLError {
  return requestRefused(
    413,
    'REQUEST_ENTITY_TOO_LARGE',
    `The request body is larger than ${maxBytes} bytes; send a smaller body.`,
  )
}

/** A JSON object or list, from UTF-8. */
export function parseJson(body: Uint8Array): object {
  let value: unknown
  try {
    value = JSON.parse(UTF_8.decode(body))
  } catch {
    throw badRequest('The body is not valid JSON in UTF-8; send {"query": "..."}.')
  }
  if (value === null || typeof value !== 'object') {
    throw badRequest('The body is not a JSON object; send {"query": "..."}.')
  }
  return value
}
