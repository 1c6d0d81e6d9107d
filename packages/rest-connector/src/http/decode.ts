import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { mediaTypeOf } from '../templates/body-template.ts'
import { BadResponse, ResponseTooLarge } from './failures.ts'
import { parseExactJson } from '../json.ts'
import { checkJson } from '../json-limits.ts'
import type { WireResponse } from './transport.ts'

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** What the connector can decode, as sent in `accept-encoding`. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/** The body without its content encoding; the cap counts decoded bytes, so a small bomb stays small. */
export async function decodeBody({ headers, body }: WireResponse, maxBytes: number): Promise<Buffer> {
  const encoding = single(headers['content-encoding'])?.trim().toLowerCase()
  if (!encoding || encoding === 'identity' || body.length === 0) return body
  const decoder = DECODERS.get(encoding)
  if (!decoder) throw new BadResponse(`content encoding "${encoding.slice(0, 40)}" is not understood`)
  try {
    return await decoder(body, { maxOutputLength: maxBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw new ResponseTooLarge(maxBytes)
    throw new BadResponse(`the ${encoding} body is damaged`, { cause })
  }
}

/** `*` + `/json` and `+json` parsed, other text as a string, an empty body as null. */
export function parseBody(
  status: number,
  contentType: string | undefined,
  body: Buffer,
  maxItems: number,
): unknown {
  if (status === 204 || status === 205 || body.length === 0) return null
  const mediaType = mediaTypeOf(contentType ?? 'application/json')
  if (/[/+]json$/.test(mediaType)) return parseJsonBody(body, maxItems)
  if (mediaType.startsWith('text/')) return body.toString('utf8')
  throw new BadResponse(`content type "${mediaType.slice(0, 80)}" is neither JSON nor text`)
}

function parseJsonBody(body: Buffer, maxItems: number): unknown {
  checkJson(body, maxItems)
  const text = body.toString('utf8')
  try {
    return parseExactJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    throw new BadResponse('the body is not valid JSON', { cause })
  }
}

/** A header that should come once; of several the first. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
