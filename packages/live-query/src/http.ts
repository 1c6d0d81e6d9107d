import { after, clientOf, createAttachment, isAsyncIterable, isNotFromHttp } from '@vinyasa/core'
import type { Behaviour } from '@vinyasa/core/pipeline'
import type { Plugin } from 'graphql-yoga'
import { serverStops } from './errors.ts'
import { type StreamKind, wantsStream } from './execution/stream-results.ts'
import type { AskedOperation, OperationParams } from './execution/passes.ts'

/** Headers that describe the received body. Later requests have another body. */
const OF_THE_BODY = ['content-encoding', 'transfer-encoding']

export interface EventStreams {
  readonly hooks: Pick<Plugin, 'onSubscribe'>
  readonly behaviour: Required<Pick<Behaviour, 'receive' | 'wrapParser'>>
  /** Marks a context as answered by a live query. */
  addLive(context: object): void
  /** Returns whether a live query or a subscription answers a context with a stream. */
  kindOf(context: object): StreamKind
  /** Refuses subscriptions and live queries from now on. */
  refuse(): void
  readonly isRefusing: boolean
  /** Returns the operation of a context whose client accepts a stream. */
  of(context: object): AskedOperation | undefined
}

interface Asking {
  readonly request: Request
  readonly context: Readonly<Record<string, unknown>>
  params: OperationParams | undefined
}

/** Keeps HTTP operations as received, before hooks change them. Each run passes the hooks again. */
export function createEventStreams(): EventStreams {
  // A WeakMap with an entry for each request costs a third of a short request's CPU in garbage collection.
  const askings = createAttachment<Asking>()
  const kinds = new WeakMap<object, StreamKind>()
  let isRefusing = false
  return {
    addLive: (context) => void kinds.set(context, 'live'),
    kindOf: (context) => kinds.get(context),
    refuse: () => void (isRefusing = true),
    get isRefusing() {
      return isRefusing
    },
    hooks: {
      onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
        const context = contextValue as object
        if (isNotFromHttp(context)) return undefined
        if (isRefusing) return setResultAndStopExecution({ errors: [serverStops()] })
        return {
          onSubscribeResult: ({ result }) =>
            void (isAsyncIterable(result) && kinds.set(context, 'subscription')),
        }
      },
    },
    behaviour: {
      receive(request, context) {
        if (wantsStream(request.headers.get('accept')))
          askings.set(context, { request, context: { ...context }, params: undefined })
      },
      wrapParser(parse, _request, context) {
        const asking = askings.get(context)
        if (!asking) return parse
        return (request) =>
          after(parse(request), (params) => {
            if (!Array.isArray(params)) asking.params = params as OperationParams
            return params
          })
      },
    },
    of(context) {
      const { request, context: before = {}, params } = askings.get(context) ?? {}
      if (!request || !params) return undefined
      const headers = new Headers(Object.fromEntries(request.headers))
      for (const name of OF_THE_BODY) headers.delete(name)
      return { url: request.url, headers, client: clientOf(before), params, context: () => before }
    },
  }
}
