import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { type Ending, unpack, type Unpacked, type UnpackOptions } from '@vinyasa/base'
import { isTextual, mediaTypeOf } from '../templates/body-template.ts'
import { BadResponse, NoPlace, ResponseTooLarge } from './failures.ts'
import { listOf } from './header-values.ts'
import { parseJson, type JsonBodyOptions } from '../json-body.ts'
import type { WireResponse } from './transport.ts'

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
