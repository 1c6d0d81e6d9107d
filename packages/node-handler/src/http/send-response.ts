import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { sendNodeResponse } from '@whatwg-node/server'
import { headersOf, isLightResponse, type LightBody } from './light-response.ts'
import type { MaybePromise } from '@vinyasa/core'

/** Sends a response as Yoga does. If the body is a string or a Buffer, the head and the body are written together. */
export function sendResponse(
  response: Response,
  outgoing: ServerResponse,
  incoming: IncomingMessage,
): MaybePromise<void> {
  if (outgoing.closed || outgoing.destroyed || outgoing.writableEnded) return endUnsent(response)
  const whole = isLightResponse(response) ? lightWhole(response.light) : trueWhole(response)
  if (!whole) {
    const given = isLightResponse(response) ? response.materialised : response
    return sendNodeResponse(given, outgoing, incoming, true)
  }
  outgoing.writeHead(response.status, response.statusText, whole.headers)
  outgoing.end(whole.body)
}

/** Stops the source of a response whose client has disconnected. */
async function endUnsent({ body }: Response): Promise<void> {
  if (!body) return
  const reader = body.getReader()
  // Yoga's event streams cannot be cancelled before the first read.
  await Promise.allSettled([reader.read(), reader.cancel()])
}

interface Whole {
  readonly headers: OutgoingHttpHeaders
  readonly body: string | Uint8Array
}

/** Properties of Yoga's Response class that hold the original body. */
interface PonyfillResponse {
  readonly bodyType?: unknown
  readonly bodyInit?: unknown
  readonly _buffer?: unknown
}

/** Properties of Yoga's Headers class: the initial headers, and a map after the first change. */
interface PonyfillHeaders {
  readonly headersInit?: unknown
  readonly _map?: unknown
  readonly _setCookies?: readonly string[]
}

function lightWhole(light: LightBody): Whole | undefined {
  if (light.response) return undefined
  const headers = light.headers ? plainHeaders(light.headers) : headersOf(light)
  return headers && { headers, body: light.bytes }
}

function trueWhole(response: Response): Whole | undefined {
  const { bodyType, bodyInit, _buffer } = response as PonyfillResponse
  const body = bodyType === 'String' ? bodyInit : _buffer
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return undefined
  const headers = plainHeaders(response.headers)
  return headers && { headers, body }
}

/** Returns `undefined` for headers that `writeHead` handles differently: several cookies, and lists of pairs. */
function plainHeaders(given: Headers): OutgoingHttpHeaders | undefined {
  const { headersInit, _map: changed, _setCookies: cookies } = given as PonyfillHeaders
  if (cookies?.length) return undefined
  if (changed instanceof Map) return Object.fromEntries(changed) as OutgoingHttpHeaders
  if (changed || typeof headersInit !== 'object' || headersInit === null) return undefined
  if (Array.isArray(headersInit) || 'get' in headersInit) return undefined
  return headersInit as OutgoingHttpHeaders
}
