import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** What Yoga's own Response class keeps of what it was made from. */
interface PonyfillResponse {
  readonly status: number
  readonly statusText: string
  readonly bodyType?: unknown
  readonly bodyInit?: unknown
  readonly _buffer?: unknown
  readonly headers: {
    /** What the headers were made from … */
    readonly headersInit?: unknown
    /** … and what they are since somebody changed one. */
    readonly _map?: unknown
    readonly _setCookies?: readonly string[]
  }
}

/**
 * Sends a response whose body is a string or a Buffer in one go: the head goes out with the body. Returns false,
 * and sends nothing, for any other response.
 */
export function sendAtOnce(response: object, outgoing: ServerResponse): boolean {
  const given = response as PonyfillResponse
  const body = given.bodyType === 'String' ? given.bodyInit : given._buffer
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return false
  const headers = headersOf(given.headers)
  if (!headers || outgoing.destroyed || outgoing.writableEnded) return false
  outgoing.writeHead(given.status, given.statusText, headers)
  outgoing.end(body)
  return true
}

/** Undefined for headers that `writeHead` takes otherwise: several cookies, lists of pairs. */
function headersOf({
  headersInit,
  _map: changed,
  _setCookies: cookies,
}: PonyfillResponse['headers']): OutgoingHttpHeaders | undefined {
  if (cookies?.length) return undefined
  if (changed instanceof Map) return Object.fromEntries(changed) as OutgoingHttpHeaders
  if (changed || typeof headersInit !== 'object' || headersInit === null) return undefined
  if (Array.isArray(headersInit) || 'get' in headersInit) return undefined
  return headersInit as OutgoingHttpHeaders
}
