import {
  type ExecutionResult,
  type GraphQLDirective,
  GraphQLError,
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { after, backgroundClock, type Clock, systemClock, type LiveOptions } from '@vinyasa/core'
import { argsOf, type Behaviour, bringPipeline, type Operation, withDocument } from '@vinyasa/core/pipeline'
import { GraphQLLiveDirective, hasLiveDirective, liveDirectiveValues } from './document/directive.ts'
import { createLiveDocuments } from './document/document-memo.ts'
import {
  createLiveQueryEngine,
  createRegistrations,
  type LiveQueryEngine,
  type LiveOperation,
  type RegistrationOf,
} from './execution/engine.ts'
import { liveQueryPlatform, refuseWrong, reportError, serverStops, EndLiveQuery } from './errors.ts'
import { createEventStreams } from './http.ts'
import { createFairTurns } from './fair-turns.ts'
import { createLiveExecution } from './execution/live-execution.ts'
import { USE_OPTIONS, type UseLiveQueryOptions } from './use-options.ts'
import { checkRun, createPasses, type Passes, type Yoga, type Pass } from './execution/passes.ts'
import { createSchemaChanges } from './execution/schema-changes.ts'
import { openStore, type LiveQueryStore } from './store/store.ts'
import { iterateLiveQuery } from './store/live-iterator.ts'
import type { LiveQueryEvent } from './store/update.ts'
import { resolveFieldOptions } from './document/field-options.ts'
import { filterOfArguments, matchesFilter, type FilterArguments } from './document/filter.ts'

type Resolver = GraphQLFieldResolver<unknown, unknown>

/** Returns what checks the live options of every root field, and makes those with `filter: 'gateway'` filter. */
function createGatewayFilter(
  fields: Readonly<Record<string, LiveOptions>>,
  defaults: LiveOptions,
): (schema: GraphQLSchema) => void {
  // A schema may come by more than once, and shares its fields with the one it was made from.
  const filtering = new WeakSet<Resolver>()
  return (schema) => {
    for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
      const { filter } = resolveFieldOptions(field, fields, defaults)
      if (filter !== 'gateway' || (field.resolve && filtering.has(field.resolve))) continue
      field.resolve = filteringResolver(field.resolve ?? defaultFieldResolver)
      filtering.add(field.resolve)
    }
  }
}

function filteringResolver(resolve: Resolver): Resolver {
  return async (source, args, context, info) => {
    const value: unknown = await resolve(source, args, context, info)
    const filter = filterOfArguments(args)
    return filter.size > 0 ? filterEntities(value, filter) : value
  }
}

/** Filters a list, or the lists that an object holds. */
function filterEntities(value: unknown, filter: FilterArguments): unknown {
  if (Array.isArray(value)) return value.filter((item) => matchesFilter(item, filter))
  if (typeof value !== 'object' || value === null) return value
  const lists = Object.entries(value).filter(([, item]) => Array.isArray(item))
  if (lists.length === 0) return value
  const filtered = Object.fromEntries(lists.map(([name, list]) => [name, filterEntities(list, filter)]))
  return Object.assign(Object.create(Object.getPrototypeOf(value)), value, filtered)
}

/**
 * Returns the answer in place of an execution; undefined when the operation is not live. Over HTTP it is the
 * updates; for a transport it is a stream that says nothing, while the pass holds the registration.
 *
 * @param pass The pass of the operation through the server. Undefined for operations over HTTP.
 */
function startLiveQuery(
  store: LiveQueryStore,
  registrationOf: RegistrationOf,
  live: LiveOperation,
  pass: Pass | undefined,
): AsyncIterable<LiveQueryEvent> | AsyncIterable<never> | ExecutionResult | undefined {
  try {
    const registration = registrationOf(live)
    if (!registration) return undefined
    const request = live.context['request'] as Request | undefined
    if (!pass) return iterateLiveQuery(store, registration, request?.signal)
    pass.registration = registration
    return nothing()
  } catch (error) {
    if (error instanceof EndLiveQuery) return { errors: error.errors }
    if (error instanceof GraphQLError) return { errors: [error] }
    throw error
  }
}

async function* nothing(): AsyncGenerator<never> {}

export interface LiveQueryPlugin extends Plugin {
  readonly store: LiveQueryStore
  /** For transports, such as `attachLiveServer` of `@vinyasa/live-query/ws`. */
  readonly engine: LiveQueryEngine
  /** For the gateway: it changes no result by who asks. */
  readonly readsHeaders: readonly string[]
  /** For the gateway: a schema that has it already stays as it is. */
  readonly directives: readonly GraphQLDirective[]
  readonly behaviour: Behaviour
  /** For the gateway: whether a context is that of a live query or subscription that is streamed over HTTP. */
  isEndless(context: object): boolean
  /** For the gateway: live queries and subscriptions over HTTP are refused with 503 from now on. */
  refuseStreams(): void
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
  const { revalidate, revalidateSeconds = 30, contextKey, platform: { clock = systemClock } = {} } = options
  const { varyHeaders, expiresAt, eventNames = true, onError = reportError } = options
  const documents = createLiveDocuments(fields, defaults, options.idFields)
  const eventStreams = createEventStreams()
  const turns = createFairTurns()
  let current: Yoga | undefined
  let plugins: readonly Plugin[] = []
  const schemas = createSchemaChanges(
    createGatewayFilter(fields, defaults),
    () => void store.invalidate({ entityType: '*', operation: '*' }),
  )
  const passes = createPasses({
    yoga() {
      if (current) return current
      throw new Error('useLiveQuery is not installed in a Yoga server. Add it to `plugins` of createYoga.')
    },
    plugins: () => plugins,
    enveloped: schemas.enveloped,
    kindOf: eventStreams.kindOf,
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
  const leaveBus = bus && follow(bus, store, options.platform?.clock)

  function close(): void {
    leaveBus?.()
    store.close()
  }

  return {
    store,
    engine: createLiveQueryEngine({ store, turns, clock, onError }, passes),
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
          if (asked && !pass && eventStreams.isRefusing) return { errors: [serverStops()] }
          const live = asked && { args: argsOf(operation), context, asked }
          const started = live && startLiveQuery(store, registrationOf, live, pass)
          if (started) {
            operation.progress.isFinal = true
            if (!pass) eventStreams.addLive(context)
            return started
          }
        } else if (!pass) return next(operation)
        return next(withDocument(operation, documents.strip(prepared.document).document))
      },
      deliver: (operation, result) => sayOnce(operation, result, passes),
    },
    isEndless: (context) => eventStreams.kindOf(context) !== undefined,
    refuseStreams: eventStreams.refuse,
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
    ...eventStreams.hooks,
    onDispose: close,
  }
}

/** In the extensions of what was to be live and is not. */
const ANSWERED_ONCE = {
  is_live: false,
  reason:
    'This result is not updated, because the request does not accept a stream or is a batch. Send the operation without batching and accept text/event-stream or multipart/mixed;subscriptionSpec=1.0, or use a WebSocket.',
}

const LOOK_MS = 500
/** How old a result may become while this process hears of no change: its caches do not answer then. */
const UNHEARD_MS = 2_000

/** Adds that it is not updated to the whole result of a live query. */
function sayOnce(operation: Operation, result: ExecutionResult, passes: Passes): ExecutionResult {
  const {
    context,
    prepared: { definition },
    params: { variables },
  } = operation
  if (passes.of(context) || !liveDirectiveValues(definition, variables ?? {})) return result
  // Only now: a cache's result is parsed, and loses its ETag, when its data is read.
  const { data, errors, extensions } = result
  if (data === undefined) return result
  return { data, ...(errors && { errors }), extensions: { ...extensions, liveQuery: ANSWERED_ONCE } }
}

/**
 * Runs live queries again for events, and without them while changes can go unheard: they get no older than what a cache gives
 * out then. Returns how to leave the bus.
 */
function follow(
  bus: NonNullable<UseLiveQueryOptions['bus']>,
  store: LiveQueryStore,
  clock: Clock = backgroundClock,
): () => void {
  const leave = bus.subscribe((events) => void store.invalidate(events))
  if (!('maxAgeMs' in bus || 'isInTouch' in bus)) return leave
  let refreshedAt = clock.now()
  const look = (): void => {
    const maxAgeMs = bus.isInTouch === false ? UNHEARD_MS : (bus.maxAgeMs ?? Infinity)
    if (clock.now() - refreshedAt >= maxAgeMs / 2) {
      refreshedAt = clock.now()
      store.invalidate({ entityType: '*', operation: '*' })
    }
    timer = clock.setTimeout(look, LOOK_MS)
  }
  let timer = clock.setTimeout(look, LOOK_MS)
  return () => {
    leave()
    clock.clearTimeout(timer)
  }
}
