import type { GraphQLParams } from 'graphql-yoga'
import { isAsyncIterable } from '@vinyasa/base'
import type { CacheEvent } from '../options.ts'

export interface HandlerPayload {
  readonly request: Request
  readonly params: GraphQLParams
  readonly context: Record<string, unknown>
}

export type ParamsHandler = (payload: HandlerPayload) => unknown

/** Runs operations again behind a stale answer, each under a request and context of its own. */
export interface Refresher {
  /** Never rejects. `context` is what the server gave before the operation changed it. */
  start(payload: HandlerPayload, context: Record<string, unknown>, handler: ParamsHandler): Promise<void>
  isRefresh(request: Request): boolean
  /** Cancels the refreshes under way. */
  close(): void
}

export function createRefresher(emit: (event: CacheEvent) => void): Refresher {
  const requests = new WeakSet<Request>()
  const controllers = new Set<AbortController>()

  async function refresh({ request, params }: HandlerPayload, context: object, handler: ParamsHandler) {
    const controller = new AbortController()
    controllers.add(controller)
    try {
      // The client's own request ends, and may be aborted, as soon as it has the stale answer. A `Host` of its choice
      // may make a URL that no request can have, which throws.
      const own = new Request(request.url, {
        method: request.method === 'GET' ? 'GET' : 'POST',
        headers: headersOf(request.headers),
        signal: controller.signal,
      })
      requests.add(own)
      const result = await handler({ request: own, params, context: { ...context, request: own } })
      // An answer in parts is stored when its last part was read.
      if (isAsyncIterable(result)) for await (const _part of result) continue
    } catch (error) {
      emit({ type: 'error', error })
    } finally {
      controllers.delete(controller)
    }
  }

  return {
    start(payload, context, handler) {
      const pending = refresh(payload, context, handler)
      const { waitUntil } = context
      if (typeof waitUntil === 'function') waitUntil.call(context, pending)
      return pending
    },
    isRefresh: (request) => requests.has(request),
    close() {
      for (const controller of controllers) controller.abort()
    },
  }
}

/** A copy of the context with all that it inherits: batched operations inherit the server's. */
export function copyOf(context: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  // oxlint-disable-next-line guard-for-in -- inherited members are wanted
  for (const name in context) copy[name] = context[name]
  return copy
}

function headersOf(headers: Headers): [string, string][] {
  const list: [string, string][] = []
  headers.forEach((value, name) => list.push([name, value]))
  return list
}
