import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { sendNodeResponse } from '@whatwg-node/server'
import type { FetchAPI } from 'graphql-yoga'
import type { Logger } from '@vinyasa/core/pipeline'

/**
 * Creates the response to a request that failed outside of an operation, e.g. in a hook: an HTTP status and its name.
 * The error is logged. It has the level debug if the client has disconnected, because a disconnect causes many errors.
 */
export function failedResponse(
  error: unknown,
  outgoing: ServerResponse,
  { fetchAPI, logger }: { readonly fetchAPI: FetchAPI; readonly logger: Logger },
): Response {
  if (outgoing.destroyed || outgoing.closed) logger.debug(error)
  else logger.error(error)
  const { status: asked } = Object(error) as { readonly status?: unknown }
  const status = typeof asked === 'number' && asked >= 400 && asked in STATUS_CODES ? asked : 500
  return new fetchAPI.Response(`${STATUS_CODES[status]}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })
}

/**
 * Returns whether a value is a response. JSON of a client can have the same properties as a response, but not
 * functions.
 */
export function isResponse(value: unknown): value is Response {
  const { status, headers } = Object(value) as Partial<Response>
  return Boolean(status) && typeof headers?.get === 'function'
}

/** Refuses a request before the server handles it. */
export function refuseTarget(response: ServerResponse, status: 400 | 404): void {
  const text =
    status === 404
      ? 'The request path contains a "." or ".." segment. Send the resolved path.\n'
      : 'The request target or the Host header is invalid. Send a path and one Host header.\n'
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
}

/**
 * Sends the response of Yoga's handler. A value from a client's body can be mistaken for a response and gets status
 * 400.
 */
export function sendYogas(
  given: unknown,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { Response }: FetchAPI,
): unknown {
  const response =
    given === undefined || given === null || isResponse(given)
      ? given
      : new Response('Bad Request\n', { status: 400, headers: { 'content-type': 'text/plain' } })
  return sendNodeResponse(response as Response, outgoing, incoming, true)
}
