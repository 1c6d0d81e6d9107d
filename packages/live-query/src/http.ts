import { GraphQLError, type ExecutionArgs, type ExecutionResult } from 'graphql'
import type { FetchAPI } from 'graphql-yoga'
import { headersOf, type LiveQueryEngine, type OperationParams } from './engine.ts'
import { iterateLiveQuery } from './live-iterator.ts'
import type { LiveQueryEvent } from './update.ts'

/** Live queries stream over HTTP only to a client that names the media type; `*` is no wish for a stream. */
export function wantsEventStream(context: Record<string, unknown>): boolean {
  return headersOf(context)?.get('accept')?.includes('text/event-stream') === true
}

export interface HttpOperation {
  readonly engine: LiveQueryEngine
  readonly args: ExecutionArgs
  /** The built context. */
  readonly context: Record<string, unknown>
  /** What it was built from. */
  readonly initial: Record<string, unknown>
  readonly fetchAPI: FetchAPI
}

/** The updates of a live operation for Yoga's event stream; `undefined` when the operation is not live. */
export function serveOverHttp(
  operation: HttpOperation,
): AsyncIterable<LiveQueryEvent> | ExecutionResult | undefined {
  const { engine, args, context, initial, fetchAPI } = operation
  const original = initial['request'] as Request
  const createContext = (signal: AbortSignal): Record<string, unknown> => ({
    ...initial,
    request: new fetchAPI.Request(original.url, { method: 'POST', headers: original.headers, signal }),
  })
  try {
    const params = (initial['params'] ?? {}) as OperationParams
    const registration = engine.registrationOf({ args, params, context, createContext })
    return registration && iterateLiveQuery(engine.store, registration, original.signal)
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] }
    throw error
  }
}
