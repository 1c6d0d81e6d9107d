import { IncomingMessage, type ServerResponse } from 'node:http'
import { createFastPath } from './fast-path/fast-path.ts'
import { refuseTarget } from './yoga/last-catch.ts'
import { guardBody, hasBody } from './http/guard-body.ts'
import { acceptTargets } from './http/request-target.ts'
import { Pipeline, pipelineOf } from '@vinyasa/core/pipeline'
import { openPreparedPath } from './prepared-path/prepared-path.ts'
import { readInternals } from './yoga/yoga-5.ts'
import { createYogasDoor } from './yoga/yogas-door.ts'
import { createChoices } from './http/remembered-choices.ts'

/**
 * Returns a function that finds the requests for the fast path: a `POST` whose body Yoga parses as JSON, and a `GET`
 * without a body and with parameters in the target. The request must come directly from node:http. A framework must not
 * have read, parsed or rewritten it.
 */
function fastPathRequests(endpoint: unknown): (request: IncomingMessage) => boolean {
  const targets = typeof endpoint === 'string' ? `${endpoint}?` : undefined
  const isJson = createChoices((contentType) =>
    /^application\/(?:graphql\+)?json(?:;|$)/.test(contentType.split(',', 1)[0] ?? ''),
  )

  function isOurs({ method, url, headers }: IncomingMessage): boolean {
    if (method === 'POST') return isJson(headers['content-type'] ?? '') === true
    return method === 'GET' && targets !== undefined && url?.startsWith(targets) === true && !hasBody(headers)
  }

  return (request) => {
    if (!(request instanceof IncomingMessage) || !isOurs(request)) return false
    return !('body' in request || 'query' in request || 'originalUrl' in request || 'raw' in request)
  }
}

/** Type of a Yoga server as a listener for `http.createServer`. */
export type NodeRequestListener = (
  request: IncomingMessage,
  response: ServerResponse,
  ...context: never[]
) => unknown

export interface NodeHandler {
  /** Handles a request of `http.createServer`. Objects after the response become part of the context, as with Yoga. */
  (request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void>
  /** Reasons why Yoga serves all requests of this server. Empty if the fast path serves GET and JSON requests. */
  readonly slowPathReasons: readonly string[]
  /** Reasons why every request goes through all hooks. Empty if cached operations skip hooks. */
  readonly preparedPathReasons: readonly string[]
}

/**
 * Creates a listener that serves GET and JSON requests of a Yoga server faster than Yoga's handler. Responses have
 * the same bytes. Yoga serves all other requests. An invalid `Host` or target gets 400, and a target with a `.` or
 * `..` segment gets 404. These requests never reach Yoga or its hooks. The path of a request depends only on its
 * target.
 */
export function createNodeHandler(yoga: NodeRequestListener): NodeHandler {
  const { internals, reasons } = readInternals(yoga)
  const isFastPathRequest = fastPathRequests(Reflect.get(yoga, 'graphqlEndpoint'))
  const pipeline = internals && (pipelineOf(internals.plugins) ?? new Pipeline(yoga, undefined))
  const fastPath = pipeline && createFastPath(internals, pipeline)
  const prepared = fastPath ? openPreparedPath({ yoga, internals, pipeline, fastPath }) : reasons
  const takePrepared = typeof prepared === 'function' ? prepared : undefined
  const yogasDoor = createYogasDoor(yoga)
  const acceptTarget = acceptTargets()

  // The function is not async, because an async function would wrap the promise of the fast path in another promise.
  function listen(request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void> {
    const refusal = acceptTarget(request)
    if (refusal) {
      refuseTarget(response, refusal)
      return Promise.resolve()
    }
    const type = request.headers?.['content-type']
    // Yoga compares media types as strings. Media types are case-insensitive, and spaces can precede ";" (RFC 9110,
    // section 8.3.1).
    if (type && type !== 'application/json')
      request.headers['content-type'] = type.replace(/^[^;,]+/, (name) => name.trim().toLowerCase())
    guardBody(request, response)
    if (fastPath && isFastPathRequest(request) && !context.some(isObject)) {
      return takePrepared?.(request, response) ?? fastPath.listen(request, response)
    }
    return yogasDoor(request, response, ...context)
  }
  return Object.assign(listen, {
    slowPathReasons: reasons,
    preparedPathReasons: typeof prepared === 'function' ? [] : prepared,
  })
}

function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object'
}
