import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** What Yoga's own Response class keeps of what it was made from. */
interface PonyfillResponse {
  readonly status: number
  readonly statusText: string
  readonly bodyType?: unknown
  readonly bodyInit?: unknown
  readonly headers: {
    readonly headersInit?: unknown
    readonly _map?: unknown
    readonly _setCookies?: readonly string[]
  }
}

/**
 * Sends a response whose whole body is a string or a Buffer with one write, head and body together. Returns false,
 * and sends nothing, for any other.
 */
export function sendAtOnce(response: object, outgoing: ServerResponse): boolean {
  const { status, statusText, bodyType, bodyInit, headers } = response as PonyfillResponse
  if (bodyType !== 'String' || typeof bodyInit !== 'string') return false
  const { headersInit, _map, _setCookies } = headers
  if (_map || _setCookies?.length || !isPlainHeaders(headersInit)) return false
  if (outgoing.destroyed || outgoing.writableEnded) return false
  outgoing.writeHead(status, statusText, headersInit)
  outgoing.end(bodyInit)
  return true
}

function isPlainHeaders(init: unknown): init is OutgoingHttpHeaders {
  return typeof init === 'object' && init !== null && !Array.isArray(init) && !('get' in init)
}
