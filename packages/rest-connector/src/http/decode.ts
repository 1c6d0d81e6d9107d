import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import {
  type Ending,
  unpack,
  type Unpacked,
  type UnpackOptions,
  exceededLimit,
  type JsonLimits,
  SLICE_BYTES,
  type Turns,
} from '@vinyasa/core'
import { isTextual, mediaTypeOf } from '../templates/body-template.ts'
import { BadResponse, NoPlace, ResponseTooLarge } from './failures.ts'
import { listOf } from './header-values.ts'
import type { WireResponse } from './transport.ts'
import { parseInSlices } from '@vinyasa/source-kit'
import { parseExactJson } from '../json.ts'

/** Deeper JSON is hostile, and whatever walks its value would run out of stack. */
const MAX_DEPTH = 200
/** A body so small can be neither deep nor long enough to matter. */
const HARMLESS_BYTES = 4_096
/** The byte order mark of UTF-8, which is no JSON, but which some bodies begin with. */
const MARK = Buffer.from('\uFEFF')
/** Limit in bytes of a body that is parsed at once, though it is longer than a slice. */
const LONG_BYTES = 2 * SLICE_BYTES

interface JsonBodyOptions {
  readonly maxItems: number
  /** The turns of the event loop in which long bodies are parsed. */
  readonly turns: Turns
}

/**
 * The value of JSON in UTF-8; a promise for a long body, which takes several turns of the event loop.
 * @throws BadResponse above 200 levels or `maxItems` members, and where it is no JSON
 */
function parseJson(body: Buffer, { maxItems, turns }: JsonBodyOptions): unknown {
  const limits = { maxDepth: MAX_DEPTH, maxItems }
  const refuse = (limit: keyof JsonLimits): BadResponse =>
    new BadResponse(
      limit === 'maxDepth'
        ? `the body exceeds the limit of ${MAX_DEPTH} levels of nested objects and lists`
        : `the body exceeds the limit of ${maxItems} items; request fewer items, or raise maxResponseItems`,
    )
  if (body.length > LONG_BYTES) {
    const json = body.subarray(MARK.equals(body.subarray(0, MARK.length)) ? MARK.length : 0)
    return parseInSlices(json, { ...limits, turns, parse: parseExactJson, refuse }).catch(invalid)
  }
  const exceeded = body.length > HARMLESS_BYTES ? exceededLimit(body, limits) : undefined
  if (exceeded) throw refuse(exceeded)
  try {
    const text = body.toString('utf8')
    return parseExactJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    return invalid(cause)
  }
}

function invalid(cause: unknown): never {
  throw cause instanceof BadResponse ? cause : new BadResponse('the body is not valid JSON', { cause })
}

// Node has it from 22.15 on.
const { createZstdDecompress } = zlib as { createZstdDecompress?: typeof zlib.createGunzip }

const SETTINGS = { chunkSize: 64 * 1024 }
const gunzip = (): Transform => zlib.createGunzip(SETTINGS)

const DECODERS = new Map<string, (body: Buffer) => Transform>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', createInflate],
  ['br', () => zlib.createBrotliDecompress(SETTINGS)],
  ...(createZstdDecompress ? [['zstd', () => createZstdDecompress(SETTINGS)] as const] : []),
])

/** With or without the wrapper of zlib: RFC 9110, section 8.4.1.2, mentions servers that leave it out. */
function createInflate(body: Buffer): Transform {
  const hasWrapper = ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE() % 31 === 0
  return hasWrapper ? zlib.createInflate(SETTINGS) : zlib.createInflateRaw(SETTINGS)
}

/** The encodings that the connector can decode, as sent in `accept-encoding`. */
export const ACCEPTED_ENCODINGS: string = [...DECODERS.keys()].filter((name) => name !== 'x-gzip').join(', ')

/** More encodings one around the other are nobody's own idea. */
const MAX_ENCODINGS = 3

/** Whether the bytes of a body are not those that were meant. */
export function isEncoded({ headers, body }: WireResponse): boolean {
  return headers['content-encoding'] !== undefined && body.length > 0
}

/** Returns the body without its content encodings. `maxBytes` counts decoded bytes. */
export async function decodeBody(
  { headers, body }: WireResponse,
  maxBytes: number,
  caller: unknown,
  ending: Ending,
): Promise<Unpacked> {
  const encodings = listOf(headers['content-encoding'])
    .map((name) => name.toLowerCase())
    .filter((name) => name !== 'identity')
  if (encodings.length > MAX_ENCODINGS)
    throw new BadResponse(
      `the body has ${encodings.length} content encodings, but at most ${MAX_ENCODINGS} are supported`,
    )
  const options = {
    maxBytes,
    caller,
    ending,
    tooLarge: () => new ResponseTooLarge(maxBytes),
    refused: () => new NoPlace(),
  }
  let decoded: Unpacked = { bytes: body, held: undefined }
  // The last encoding was applied last.
  for (const encoding of encodings.reverse()) decoded = await decodeOne(encoding, decoded, options)
  return decoded
}

async function decodeOne(
  encoding: string,
  { bytes, held }: Unpacked,
  options: UnpackOptions,
): Promise<Unpacked> {
  const decoder = DECODERS.get(encoding)
  // Held further, it could be what its own next layer waits for.
  held?.leave()
  try {
    if (!decoder) throw new BadResponse(`content encoding "${encoding.slice(0, 40)}" is not supported`)
    return await unpack(bytes, decoder(bytes), options)
  } catch (cause) {
    if (options.ending?.aborted) throw options.ending.reason
    if (cause instanceof ResponseTooLarge || cause instanceof NoPlace || cause instanceof BadResponse)
      throw cause
    throw new BadResponse(`the ${encoding} body is invalid`, { cause })
  }
}

/** The kind of body that a success has, as the endpoint declares it. */
export type AnswerKind = 'json' | 'text' | 'binary' | 'none'

/** `*` + `/json` and `+json` parsed, other text as a string, an empty body as null; or what the endpoint declares. */
export function parseBody(
  status: number,
  contentType: string | undefined,
  body: Buffer,
  options: JsonBodyOptions,
  answer: AnswerKind = 'json',
): unknown {
  if (answer === 'none') return true
  if (status === 204 || status === 205 || body.length === 0) return null
  if (answer === 'binary') return body.toString('base64')
  if (answer === 'text') return asUtf8(body, contentType).toString('utf8')
  const mediaType = mediaTypeOf(contentType ?? 'application/json')
  if (/[/+]json$/.test(mediaType)) return parseJson(asUtf8(body, contentType), options)
  if (isTextual(mediaType)) return asUtf8(body, contentType).toString('utf8')
  throw new BadResponse(`content type "${mediaType.slice(0, 80)}" is not JSON or text`)
}

/** The same text in UTF-8, whatever charset the upstream names; without one it is UTF-8. */
function asUtf8(body: Buffer, contentType: string | undefined): Buffer {
  const charset =
    contentType === undefined ? undefined : /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1]
  if (charset === undefined || /^utf-?8$/i.test(charset)) return body
  try {
    return Buffer.from(new TextDecoder(charset).decode(body))
  } catch (cause) {
    throw new BadResponse(`charset "${charset.slice(0, 40)}" is not supported`, { cause })
  }
}
