import type { IncomingMessage, ServerResponse } from 'node:http'
import { type KnownOptions, refuseWrongOptions, wholeAtLeast } from '@vinyasa/base'
import type { NodeHandlerOptions } from './options.ts'
import { createFastPath } from './fast-path/fast-path.ts'
import { fastPathRequests } from './fast-path/fast-path-requests.ts'
import { refuseTarget } from './yoga/last-catch.ts'
import { guardBody } from './http/guard-body.ts'
import { acceptTargets } from './http/request-target.ts'
import { Pipeline, pipelineOf } from '@vinyasa/pipeline'
import { openPreparedPath } from './prepared-path/prepared-path.ts'
import { readInternals } from './yoga/yoga-5.ts'
import { createYogasDoor } from './yoga/yogas-door.ts'

/** A Yoga server, whatever its contexts, as `http.createServer` calls it. */
export type NodeRequestListener = (
  request: IncomingMessage,
  response: ServerResponse,
  ...context: never[]
) => unknown

export interface NodeHandler {
  /** For `http.createServer`. Objects after the response become part of the context, as with Yoga itself. */
  (request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void>
  /** Why every request of this server takes Yoga's own door; empty when GETs and JSON requests take the thin one. */
  readonly slowPathReasons: readonly string[]
  /** Why every request goes through all hooks; empty where requests for prepared operations do not. */
  readonly preparedPathReasons: readonly string[]
}

const NAMES: KnownOptions<NodeHandlerOptions> = { maxBodyBytes: wholeAtLeast(0) }

/**
 * Answers the GETs and the JSON requests of a Yoga server with less work than Yoga's own door, to the same bytes, and
 * gives it all other requests. Requests whose `Host` or target is none are answered with 400 before either door sees them, and the
 * path that both see is that of the target alone.
 *
 * @throws TypeError when `maxBodyBytes` is not a whole number of bytes.
 */
export function createNodeHandler(yoga: NodeRequestListener, options: NodeHandlerOptions = {}): NodeHandler {
  refuseWrongOptions('createNodeHandler', options, NAMES)
  const { maxBodyBytes } = options
  const { internals, reasons } = readInternals(yoga)
  const isFastPathRequest = fastPathRequests(Reflect.get(yoga, 'graphqlEndpoint'))
  const pipeline = internals && (pipelineOf(internals.plugins) ?? new Pipeline(yoga, undefined))
  const fastPath = pipeline && createFastPath(internals, maxBodyBytes, pipeline)
  const prepared = fastPath
    ? openPreparedPath({ yoga, internals, maxBodyBytes, pipeline, fastPath })
    : reasons
  const takePrepared = typeof prepared === 'function' ? prepared : undefined
  const yogasDoor = createYogasDoor(yoga)
  const acceptTarget = acceptTargets()

  // Not async, which would put a promise of its own around the fast path's.
  function listen(request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void> {
    const refusal = acceptTarget(request)
    if (refusal) {
      refuseTarget(response, refusal)
      return Promise.resolve()
    }
    const type = request.headers?.['content-type']
    // Yoga compares strings; media types are case-insensitive, with spaces before ";" (RFC 9110, section 8.3.1).
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
