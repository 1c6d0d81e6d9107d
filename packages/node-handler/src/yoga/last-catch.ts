import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { sendNodeResponse } from '@whatwg-node/server'
import type { FetchAPI } from 'graphql-yoga'
import type { Logger } from '@vinyasa/core/pipeline'

/**
 * The answer to a request whose handling failed outside of any operation, as in a hook of the server: a status and its
 * name. What failed goes to the log, unless the client has left, which makes much fail.
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

/** Whether something is a response: JSON of a client can have every member of one, but no functions. */
export function isResponse(value: unknown): value is Response {
  const { status, headers } = Object(value) as Partial<Response>
  return Boolean(status) && typeof headers?.get === 'function'
}

/** Refuses a request before anything of the server has seen it. */
export function refuseTarget(response: ServerResponse, status: 400 | 404): void {
  const text =
    status === 404
      ? 'The request path contains a "." or ".." segment. Send the resolved path.\n'
      : 'The request target or the Host header is invalid. Send a path and one Host header.\n'
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
}

/** Sends what Yoga's own door made of a request. What a client's body was mistaken for is no response. */
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
