import type { GraphQLDirective } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { after, isAsyncIterable, systemClock } from '@vinyasa/base'
import { argsOf, type Behaviour, bringPipeline, withDocument } from '@vinyasa/pipeline'
import { GraphQLLiveDirective, hasLiveDirective } from './document/directive.ts'
import { createLiveDocuments } from './document/document-memo.ts'
import { createLiveQueryEngine, createRegistrations, type LiveQueryEngine } from './execution/engine.ts'
import { createGatewayFilter } from './document/gateway-filter.ts'
import { liveQueryPlatform, refuseWrong, reportError } from './errors.ts'
import { createEventStreams, sendAsItComes } from './http.ts'
import { createFairTurns } from './fair-turns.ts'
import { createLiveExecution } from './execution/live-execution.ts'
import { USE_OPTIONS, type UseLiveQueryOptions } from './use-options.ts'
import { checkRun, createPasses, type Yoga } from './execution/passes.ts'
import { createSchemaChanges } from './execution/schema-changes.ts'
import { startLiveQuery } from './execution/start-live-query.ts'
import { openStore, type LiveQueryStore } from './store/store.ts'

export interface LiveQueryPlugin extends Plugin {
  readonly store: LiveQueryStore
  /** For transports, such as `attachLiveServer` of `@vinyasa/live-query/ws`. */
  readonly engine: LiveQueryEngine
  /** For the gateway: it changes no result by who asks. */
  readonly readsHeaders: readonly string[]
  /** For the gateway: a schema that has it already stays as it is. */
  readonly directives: readonly GraphQLDirective[]
  readonly behaviour: Behaviour
  /** Completes every live query and leaves the bus. Yoga's `dispose` does the same. */
  close(): void
}

/**
 * Adds `@live` to a Yoga server. Over HTTP it answers once, or streams where `text/event-stream` or
 * `multipart/mixed;subscriptionSpec=1.0` is asked for; subscriptions take the latter, too.
 *
 * @throws Error on Cloudflare Workers (workerd), where no request can wake another.
 */
export function useLiveQuery(options: UseLiveQueryOptions = {}): LiveQueryPlugin {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } }
  if (navigator?.userAgent === 'Cloudflare-Workers') throw liveQueryPlatform()
  refuseWrong(options, USE_OPTIONS)
  const { store = openStore(options), bus, fields = {}, defaults = {} } = options
  const { clock = systemClock, revalidate, revalidateSeconds = 30, contextKey } = options
  const { varyHeaders, expiresAt, eventNames = true, onError = reportError } = options
  const documents = createLiveDocuments(fields, defaults)
  const eventStreams = createEventStreams()
  const turns = createFairTurns()
  let current: Yoga | undefined
  let plugins: readonly Plugin[] = []
  const schemas = createSchemaChanges({
    prepare: createGatewayFilter(fields, defaults),
    onChange: () => void store.invalidate({ entityType: '*', operation: '*' }),
  })
  const passes = createPasses({
    yoga() {
      if (current) return current
      throw new Error('useLiveQuery is not part of a Yoga server: pass it in the `plugins` of createYoga.')
    },
    plugins: () => plugins,
    enveloped: schemas.enveloped,
    eventNames,
    clock,
  })
  const registrationOf = createRegistrations({
    documents,
    execution: createLiveExecution({
      passes,
      turns,
      revalidate,
      revalidateSeconds,
      clock,
      seenEvents: () => store.stats().events,
    }),
    schemaNumber: schemas.numberOf,
    contextKey,
    varyHeaders,
    expiresAt,
    onError,
  })
  const leaveBus = bus?.subscribe((events) => void store.invalidate(events))

  function close(): void {
    leaveBus?.()
    store.close()
  }

  return {
    store,
    engine: createLiveQueryEngine({ store, turns, passes, onError }),
    readsHeaders: [],
    directives: [GraphQLLiveDirective],
    behaviour: {
      name: 'liveQuery',
      admits: ({ document }) => !hasLiveDirective(document),
      execute(operation, next) {
        const { context, prepared } = operation
        const pass = passes.of(context)
        if (pass?.run) {
          const stripped = withDocument(operation, documents.strip(prepared.document).document)
          return after(checkRun(pass.run, context), (ended) => ended ?? next(stripped))
        }
        if (hasLiveDirective(prepared.document)) {
          const asked = pass?.asked ?? eventStreams.of(context)
          const live = asked && { args: argsOf(operation), context, asked }
          const started = live && startLiveQuery({ store, registrationOf, live, pass })
          if (started) {
            operation.progress.isFinal = true
            if (!pass && isAsyncIterable(started)) sendAsItComes(context)
            return started
          }
        } else if (!pass) return next(operation)
        return next(withDocument(operation, documents.strip(prepared.document).document))
      },
    },
    close,
    onPluginInit(payload) {
      plugins = payload.plugins
      bringPipeline(payload)
      // Behind Yoga's own plugins, which `addPlugin` cannot reach.
      payload.plugins.push(passes.last)
    },
    onYogaInit({ yoga }) {
      current = yoga as unknown as Yoga
    },
    onSchemaChange({ schema, replaceSchema }) {
      const live = schemas.replaced(schema)
      if (live !== schema) replaceSchema(live)
    },
    onRequest: eventStreams.onRequest,
    onRequestParse: eventStreams.onRequestParse,
    onDispose: close,
  }
}
