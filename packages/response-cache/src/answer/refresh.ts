import { isAsyncIterable } from '@vinyasa/base'
import type { Operation } from '@vinyasa/pipeline'
import { readsOf, recordReads, silently } from '../http/request-reads.ts'
import type { CacheEvent } from '../options.ts'

/** Executes the operation as one with another request and context. */
export type ExecuteAgain = (again: Pick<Operation, 'request' | 'context'>) => unknown

/** Runs operations again behind a stale answer, each under a request and context of its own. */
export interface Refresher {
  /** Never rejects. */
  start(operation: Pick<Operation, 'request' | 'context'>, execute: ExecuteAgain): Promise<void>
  /** Cancels the refreshes under way. */
  close(): void
}

export function createRefresher(emit: (event: CacheEvent) => void): Refresher {
  const controllers = new Set<AbortController>()

  async function refresh(request: Request, context: object, execute: ExecuteAgain) {
    const controller = new AbortController()
    controllers.add(controller)
    try {
      // The client's own request ends, and may be aborted, as soon as it has the stale answer. A `Host` of its choice
      // may make a URL that no request can have, which throws.
      const reads = readsOf(request)
      const own = new Request(request.url, {
        method: request.method === 'GET' ? 'GET' : 'POST',
        headers: silently(request, () => headersOf(request.headers)),
        signal: controller.signal,
      })
      if (reads) recordReads(own, {}, reads)
      const result = await execute({ request: own, context: { ...context, request: own } })
      // An answer in parts is stored when its last part was read.
      if (isAsyncIterable(result)) for await (const _part of result) continue
    } catch (error) {
      emit({ type: 'error', error })
    } finally {
      controllers.delete(controller)
    }
  }

  return {
    start({ request, context: given }, execute) {
      const context = copyOf(given)
      const pending = refresh(request, context, execute)
      const { waitUntil } = context
      if (typeof waitUntil === 'function') waitUntil.call(context, pending)
      return pending
    },
    close() {
      for (const controller of controllers) controller.abort()
    },
  }
}

/** A copy of the context with all that it inherits: batched operations inherit the server's. */
function copyOf(context: Record<string, unknown>): Record<string, unknown> {
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
