import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalidMaxBodyBytes } from './errors.ts'
import type { NodeHandlerOptions } from './options.ts'
import { createThinDoor } from './thin-door.ts'
import { thinRequests } from './thin-request.ts'
import { refuseTarget } from './last-catch.ts'
import { acceptTargets } from './request-target.ts'
import { readInternals } from './yoga-internals.ts'
import { createYogasDoor } from './yogas-door.ts'

/** What is needed of a Yoga server, whatever its contexts: that it can be called, as `http.createServer` calls it. */
export type NodeRequestListener = (
  request: IncomingMessage,
  response: ServerResponse,
  ...context: never[]
) => unknown

export interface NodeHandler {
  /** For `http.createServer`. Objects after the response become part of the context, as with Yoga itself. */
  (request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void>
  /** Why every request of this server takes Yoga's own door; empty when JSON requests take the thin one. */
  readonly slowPathReasons: readonly string[]
}

/**
 * Answers the JSON requests of a Yoga server with less work than Yoga's own door, to the same bytes, and gives it all
 * other requests. Requests whose `Host` or target is none are answered with 400 before either door sees them, and the
 * path that both see is that of the target alone.
 *
 * @throws TypeError when `maxBodyBytes` is not a whole number of bytes.
 */
export function createNodeHandler(yoga: NodeRequestListener, options: NodeHandlerOptions = {}): NodeHandler {
  const { maxBodyBytes } = options
  if (maxBodyBytes !== undefined && !(Number.isSafeInteger(maxBodyBytes) && maxBodyBytes >= 0)) {
    throw invalidMaxBodyBytes(maxBodyBytes)
  }
  const { internals, reasons } = readInternals(yoga)
  const isThinRequest = thinRequests()
  const thinDoor = internals && createThinDoor(internals, maxBodyBytes)
  const yogasDoor = createYogasDoor(yoga)
  const acceptTarget = acceptTargets()

  // Not async, which would put a promise of its own around the thin door's.
  function listen(request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void> {
    if (!acceptTarget(request)) {
      refuseTarget(response)
      return Promise.resolve()
    }
    if (thinDoor && isThinRequest(request) && !context.some(isObject)) return thinDoor(request, response)
    return yogasDoor(request, response, ...context)
  }
  return Object.assign(listen, { slowPathReasons: reasons })
}

function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object'
}
