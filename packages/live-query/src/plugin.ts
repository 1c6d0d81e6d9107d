import {
  defaultFieldResolver,
  type ExecutionResult,
  type GraphQLDirective,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { after, backgroundClock, type Clock, type LiveOptions, systemClock } from '@vinyasa/core'
import {
  argsOf,
  type Behaviour,
  bringPipeline,
  type Operation,
  withBehaviour,
  withDocument,
} from '@vinyasa/core/pipeline'
import {
  GraphQLLiveDirective,
  hasLiveDirective,
  liveDirectiveValues,
  resolveFieldOptions,
} from './document/directive.ts'
import { createLiveDocuments } from './document/live-plan.ts'
import {
  createLiveQueryEngine,
  createRegistrations,
  type LiveOperation,
  type LiveQueryEngine,
  type RegistrationOf,
} from './execution/engine.ts'
import { EndLiveQuery, liveQueryPlatform, refuseWrong, reportError, serverStops } from './errors.ts'
import { createEventStreams } from './http.ts'
import { createFairTurns } from './fair-turns.ts'
import { createLiveExecution } from './execution/live-execution.ts'
import { USE_OPTIONS, type UseLiveQueryOptions } from './use-options.ts'
import { checkRun, createPasses, type Pass, type Passes, type Yoga } from './execution/passes.ts'
import { createSchemaChanges } from './execution/schema-changes.ts'
import { type LiveQueryStore, openStore } from './store/store.ts'
import { type LiveQueryEvent, toEvent } from './store/update.ts'
import { type FilterArguments, filterOfArguments, matchesFilter } from './document/filter.ts'
import type { LiveQueryRegistration, LiveQuerySubscription } from './store/subscriber.ts'

type Resolver = GraphQLFieldResolver<unknown, unknown>

/**
 * Returns a function that checks the live options of every root field, and adds filters to fields with `filter:
 * 'gateway'`.
 */
function createGatewayFilter(
  fields: Readonly<Record<string, LiveOptions>>,
  defaults: LiveOptions,
): (schema: GraphQLSchema) => void {
  // The function can receive a schema repeatedly, and a derived schema shares its fields.
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

/** Filters a list, or the lists in an object. */
function filterEntities(value: unknown, filter: FilterArguments): unknown {
  if (Array.isArray(value)) return value.filter((item) => matchesFilter(item, filter))
  if (typeof value !== 'object' || value === null) return value
  const lists = Object.entries(value).filter(([, item]) => Array.isArray(item))
  if (lists.length === 0) return value
  const filtered = Object.fromEntries(lists.map(([name, list]) => [name, filterEntities(list, filter)]))
  return Object.assign(Object.create(Object.getPrototypeOf(value)), value, filtered)
}

/**
 * Starts a live query. Returns the updates over HTTP, or an empty stream for other transports, whose pass then contains
 * the registration. Returns `undefined` if the operation is not live.
 *
 * @param pass the pass of the operation through the server; `undefined` over HTTP
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
  /** Declares to the gateway that this plugin's results do not depend on request headers. */
  readonly readsHeaders: readonly string[]
  /** For the gateway, which keeps a schema unchanged if it already contains these directives. */
  readonly directives: readonly GraphQLDirective[]
  readonly behaviour: Behaviour
  /**
   * Returns whether a context belongs to a live query or a subscription that is streamed over HTTP. For the gateway.
   */
  isEndless(context: object): boolean
  /** Refuses live queries and subscriptions over HTTP with 503 from now on. For the gateway. */
  refuseStreams(): void
  /** Completes all live queries and unsubscribes from the bus. Yoga's `dispose` does the same. */
  close(): void
}

/**
 * Adds `@live` to a Yoga server. Over HTTP, the response is a stream if the client accepts `text/event-stream` or
 * `multipart/mixed;subscriptionSpec=1.0`, and a single result otherwise. Subscriptions support the multipart format
 * too.
 *
 * @throws Error on Cloudflare Workers (workerd), where requests cannot share objects
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
    yoga: () => current ?? notInstalled(),
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

  const plugin: Omit<LiveQueryPlugin, 'behaviour'> = {
    store,
    engine: createLiveQueryEngine({ store, turns, clock, onError }, passes),
    readsHeaders: [],
    directives: [GraphQLLiveDirective],
    isEndless: (context) => eventStreams.kindOf(context) !== undefined,
    refuseStreams: eventStreams.refuse,
    close,
    onPluginInit(payload) {
      plugins = payload.plugins
      bringPipeline(payload)
      // `addPlugin` cannot add plugins after Yoga's own plugins.
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
  return withBehaviour(plugin, {
    ...eventStreams.behaviour,
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
  })
}

function notInstalled(): never {
  throw new Error('useLiveQuery is not installed in a Yoga server. Add it to `plugins` of createYoga.')
}

/** The extensions of a live query that is answered only once. */
const ANSWERED_ONCE = {
  is_live: false,
  reason:
    'This result is not updated, because the request does not accept a stream or is a batch. Send the operation without batching and accept text/event-stream or multipart/mixed;subscriptionSpec=1.0, or use a WebSocket.',
}

const LOOK_MS = 500
/** Maximum age of a result in milliseconds while this process receives no events. Its caches are not used then. */
const UNHEARD_MS = 2_000

/** Adds to the complete result of a live query that it is not updated. */
function sayOnce(operation: Operation, result: ExecutionResult, passes: Passes): ExecutionResult {
  const {
    context,
    prepared: { definition },
    params: { variables },
  } = operation
  if (passes.of(context) || !liveDirectiveValues(definition, variables ?? {})) return result
  // `data` is read only here, because reading it parses the result of a cache and removes its ETag.
  const { data, errors, extensions } = result
  if (data === undefined) return result
  return { data, ...(errors && { errors }), extensions: { ...extensions, liveQuery: ANSWERED_ONCE } }
}

/**
 * Re-executes live queries for events. While events can be missing, live queries are re-executed periodically, so that
 * results are not older than those of a cache. Returns a function that ends the subscription to the bus.
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

type Step = IteratorResult<LiveQueryEvent, undefined>

/**
 * Returns a live query as an async iterable. It holds at most one update, the newest, while the consumer is busy. The
 * query is registered immediately, and errors of `register` are thrown.
 */
function iterateLiveQuery(
  store: LiveQueryStore,
  registration: Omit<LiveQueryRegistration, 'channel'>,
  signal?: AbortSignal,
): AsyncIterableIterator<LiveQueryEvent> {
  let waiting: ((step: Step) => void) | undefined
  let subscription: LiveQuerySubscription | undefined
  let ended: { readonly errors?: readonly GraphQLError[] | undefined } | undefined

  function end(errors?: readonly GraphQLError[]): void {
    ended ??= { errors }
    signal?.removeEventListener('abort', stop)
    const resolve = waiting
    waiting = undefined
    resolve?.(lastStep())
  }

  /** Errors that end the query are its last result. */
  function lastStep(): Step {
    const errors = ended?.errors
    if (!errors) return { done: true, value: undefined }
    ended = {}
    return { done: false, value: { errors } as unknown as LiveQueryEvent }
  }

  function stop(): void {
    if (subscription) store.unregister(subscription.id)
    end()
  }

  subscription = store.register({
    ...registration,
    channel: {
      ready: () => waiting !== undefined,
      next(delivery) {
        const resolve = waiting
        waiting = undefined
        resolve?.({ done: false, value: toEvent(delivery, subscription?.id ?? registration.id ?? '') })
      },
      end,
    },
  })
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      if (ended) return Promise.resolve(lastStep())
      return new Promise<Step>((resolve) => {
        waiting = resolve
        subscription?.flush()
      })
    },
    return() {
      stop()
      return Promise.resolve({ done: true, value: undefined })
    },
  }
}
