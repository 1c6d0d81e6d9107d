import type { GraphQLSchema } from 'graphql'
import type { Plugin, YogaServer } from 'graphql-yoga'
import { systemClock } from './clock.ts'
import { addLiveDirective, hasLiveDirective } from './directive.ts'
import { createLiveDocuments } from './documents.ts'
import { createLiveQueryEngine, type LiveQueryEngine } from './engine.ts'
import { createLiveSchema } from './gateway-filter.ts'
import { serveOverHttp, wantsEventStream } from './http.ts'
import { createLiveExecution } from './live-execution.ts'
import type { UseLiveQueryOptions } from './options.ts'
import { createLiveQueryStore, type LiveQueryStore } from './store.ts'

type Yoga = YogaServer<Record<string, unknown>, Record<string, unknown>>

export interface LiveQueryPlugin extends Plugin {
  readonly store: LiveQueryStore
  /** For transports, such as `attachLiveServer` of `@vinyasa/live-query/ws`. */
  readonly engine: LiveQueryEngine
  /** A request for the context of an execution that came by another way than HTTP. */
  createRequest(of: {
    readonly url: string
    readonly headers: Headers
    readonly signal: AbortSignal
  }): Request
  /** Completes every live query and leaves the bus. Yoga's `dispose` does the same. */
  close(): void
}

/** Adds `@live` to a Yoga server. Over HTTP it answers once, or streams where `text/event-stream` is asked for. */
export function useLiveQuery(options: UseLiveQueryOptions = {}): LiveQueryPlugin {
  const { store = createLiveQueryStore(options), bus, fields = {}, defaults = {} } = options
  const { clock = systemClock, revalidate, revalidateSeconds = 30, contextKey } = options
  const { varyHeaders = ['authorization', 'cookie'], onError = reportError } = options
  const liveSchema = createLiveSchema(fields, defaults)
  const documents = createLiveDocuments(fields, defaults)
  const initialContexts = new WeakMap<object, Record<string, unknown>>()
  let current: Yoga | undefined
  let schemaNumber = 0
  let lastSchema: GraphQLSchema | undefined

  function yoga(): Yoga {
    if (!current)
      throw new Error('useLiveQuery is not part of a Yoga server: pass it in the `plugins` of createYoga.')
    return current
  }

  const execution = createLiveExecution({ yoga, revalidate, revalidateSeconds, clock })
  const engine = createLiveQueryEngine({
    store,
    documents,
    execution,
    yoga,
    schemaNumber: () => schemaNumber,
    contextKey,
    varyHeaders,
    onError,
  })
  const leaveBus = bus?.subscribe((events) => void store.invalidate(events))

  function close(): void {
    leaveBus?.()
    store.close()
  }

  return {
    store,
    engine,
    createRequest: ({ url, headers, signal }) =>
      new (yoga().fetchAPI.Request)(url, { method: 'POST', headers, signal }),
    close,
    onYogaInit({ yoga }) {
      current = yoga as unknown as Yoga
    },
    onSchemaChange({ schema, replaceSchema }) {
      const live = addLiveDirective(schema)
      if (live === lastSchema) return
      liveSchema.prepare(live)
      lastSchema = live
      schemaNumber += 1
      if (schemaNumber > 1) store.invalidate({ entityType: '*', operation: '*' })
      if (live !== schema) replaceSchema(live)
    },
    onEnveloped({ context }) {
      if (!context || 'liveQuery' in context || !wantsEventStream(context)) return
      initialContexts.set(context, { ...context })
    },
    onExecute({ args, setResultAndStopExecution }) {
      const context = args.contextValue as unknown as Record<string, unknown>
      if ('liveQuery' in context || !hasLiveDirective(args.document)) return
      const initial = initialContexts.get(context)
      const stream = initial && serveOverHttp({ engine, args, context, initial, fetchAPI: yoga().fetchAPI })
      if (stream) setResultAndStopExecution(stream as never)
      else args.document = documents.strip(args.document).document
    },
    onDispose: close,
  }
}

function reportError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] live query:', error)
}
