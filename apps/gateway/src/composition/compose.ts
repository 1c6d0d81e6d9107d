import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  backgroundClock,
  OpenStreams,
  isAsyncIterable,
  type Finding,
  createRecent,
  notePlace,
  type Room,
} from '@vinyasa/core'
import type { InvalidationBus, VariesBy } from '@vinyasa/invalidation'
import { acceptTargets, createNodeHandler, type NodeHandler } from '@vinyasa/node-handler'
import { createDocumentRoom, documentBytes, withoutFrames } from '@vinyasa/core/pipeline'
import { type GraphQLSchema, type GraphQLError, isObjectType, validateSchema } from 'graphql'
import { createYoga, type Plugin, type GraphiQLOptions, type YogaServerOptions } from 'graphql-yoga'
import { renderGraphiQL } from '../graphiql/render.ts'
import { corsFor, originsOf, toPattern } from '../http/cors.ts'
import { METRICS_PATH } from '../http/paths.ts'
import { createLiveStreams } from '../http/live-streams.ts'
import { createTrustedProxies } from '../http/trusted-proxies.ts'
import {
  refuseUpgrade,
  type AllowedOrigins,
  attachLiveServer,
  type LiveServerOptions,
} from '@vinyasa/live-query/ws'
import type { Logger } from '../logging/logger.ts'
import type { LoadReading } from '../observability/metrics/metrics.ts'
import type { RequestEnd } from '../observability/recorder.ts'
import { httpSettings, type HttpSettings } from '../presets.ts'
import { clientsBy } from '../rate-limit/client-address.ts'
import type { SourceHealth, Source } from '../sources/source.ts'
import { figuresOf, useStatusPage } from '../status/status.ts'
import { type Note, noteAll } from './notes.ts'
import type { Parts } from './parts.ts'
import { pluginsOf } from './plugins.ts'
import { examplesFor, type ExampleOperation } from '../graphiql/examples.ts'
import type { SourceSections } from '../sources/types.ts'
import { rememberBriefly } from '../http/probes.ts'
import { useLiveQuery, type LiveQueryPlugin } from '@vinyasa/live-query'
import type { GatewayConfig } from '../config/types.ts'
import { createVariesBy, type VariesBySections } from '../dependencies/own-code/declare-varies-by.ts'
import { stateDependencies, checkStatements } from '../dependencies/statements.ts'
import { ConfigError, findingAt, mistakeAt } from '../errors.ts'
import { pathnameOf } from '../http/pathname.ts'
import { checkAccess } from '../access/rules/check-access.ts'
import { checkCost } from '../cost/check-cost.ts'
import { refuseUnknownCaller } from '../dependencies/varies-by.ts'
import { checkRateLimit } from '../rate-limit/rate-limit.ts'
import { fieldAt, suggestFor } from '../coordinates.ts'
import { pathOfDeclared, pathOfOrigin } from '../sources/elements.ts'
import { findingsIn } from '../texts/type-defs-text.ts'

/**
 * Creates the caches of texts that were parsed, in the room that their server has for documents. Yoga bounds their number
 * alone: a client that sends texts of a megabyte each, all comments, would fill the heap with 30 of them.
 */
export function documentCache(room: Room): YogaServerOptions<object, object>['parserAndValidationCache'] {
  const documents = createRecent<object>(room)
  const errors = createRecent<unknown>(room)
  return {
    documentCache: {
      get: (text) => documents.get(text) as never,
      set: (text, document) =>
        notePlace(document, documents.set(text, document, documentBytes(text, document))),
    },
    errorCache: {
      get: (text) => errors.get(text),
      set(text, error) {
        withoutFrames(error)
        errors.set(text, error, documentBytes(text))
      },
    },
  }
}

/** Throws `ConfigError` for options of behaviours about what the schema does not have. */
function checkCoordinates(
  schema: GraphQLSchema,
  { responseCache = false, liveQuery = {} }: Pick<GatewayConfig, 'liveQuery' | 'responseCache'>,
): void {
  const { ttlMsBySchemaCoordinate = {} } = typeof responseCache === 'object' ? responseCache : {}
  for (const coordinate of Object.keys(ttlMsBySchemaCoordinate)) {
    if (coordinate.includes('.') ? fieldAt(schema, coordinate) : schema.getType(coordinate)) continue
    throw mistakeAt(
      ['responseCache', 'ttlMsBySchemaCoordinate', coordinate],
      `the schema has no such field or type${suggestFor(schema, coordinate)}`,
    )
  }
  const queryName = schema.getQueryType()?.name ?? 'Query'
  for (const name of Object.keys(liveQuery === false ? {} : (liveQuery.fields ?? {}))) {
    const coordinate = `${queryName}.${name}`
    if (!fieldAt(schema, coordinate))
      throw mistakeAt(
        ['liveQuery', 'fields', name],
        `the schema has no field ${coordinate}${suggestFor(schema, coordinate)}`,
      )
  }
}

/** Throws `ConfigError` if the schema is not valid, or if the config names something that it does not have. */
function checkConfig(schema: GraphQLSchema, config: GatewayConfig): void {
  const invalid = validateSchema(schema)
  if (invalid.length > 0) throw new ConfigError(invalid.flatMap((error) => placesOf(error, schema, config)))
  checkStatements(schema, config.dependencies ?? {})
  checkCoordinates(schema, config)
  checkAccess(schema, config.access)
  checkRateLimit(schema, config.rateLimit)
  checkCost(schema, config.cost)
  refuseUnknownCaller(schema, config)
}

/** The place in `typeDefs`, or in the source that the first known name in the message comes from. */
function placesOf(error: GraphQLError, schema: GraphQLSchema, config: GatewayConfig): readonly Finding[] {
  if (error.nodes?.some(({ loc }) => loc)) return findingsIn([error])
  for (const name of error.message.match(/\b[A-Za-z_]\w*(?:\.\w+)?/g) ?? []) {
    const [typeName = '', field] = name.split('.')
    const type = schema.getType(typeName)
    const made = fieldAt(schema, name) ?? (isObjectType(type) ? type : undefined)
    const path =
      pathOfDeclared(typeName, field, config) ?? pathOfOrigin(String(made?.extensions['origin']), config)
    if (path) return [findingAt(path, error.message)]
  }
  return [{ message: `The schema is not valid: ${error.message}` }]
}

type Level = 'debug' | 'info' | 'warn' | 'error'

/** The gateway's log as Yoga writes to it. */
function yogaLogging(logger: Logger): Record<Level, (...args: unknown[]) => void> {
  const write =
    (level: Level) =>
    (...args: unknown[]): void => {
      const [first, ...rest] = args
      logger[hasLeft(first) ? 'debug' : level](first, ...rest.map(String))
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/**
 * Whether something, such as reading a file of a request, broke off because its client left: that is nobody's
 * fault.
 */
function hasLeft(error: unknown): boolean {
  const { originalError = error } = Object(error) as { readonly originalError?: unknown }
  const { name, message } = Object(originalError) as Partial<Error>
  return name === 'AbortError' && message === 'The client left'
}

/** Yoga adds each source's fields to the schema in turn; the last one seen is the whole. */
function holdSchema(
  config: VariesBySections & Pick<GatewayConfig, 'idFields'>,
  sources: readonly { readonly variesBy: VariesBy | undefined }[],
) {
  const { dependencies = {}, idFields } = config
  const declareVariesBy = createVariesBy(
    config,
    sources.map(({ variesBy }) => variesBy),
  )
  let latest: GraphQLSchema | undefined
  const plugin: Plugin = {
    onSchemaChange: ({ schema }) => {
      latest = schema as GraphQLSchema
      if (idFields) latest.extensions = { ...latest.extensions, idFields }
      stateDependencies(latest, dependencies)
      declareVariesBy(latest)
    },
  }
  return {
    plugin,
    current(): GraphQLSchema {
      const fields = Object.values(latest?.getQueryType()?.getFields() ?? {})
      // Sources without a query have the one field that nobody wrote.
      const isWritten =
        sources.length > 0 || fields.some(({ name, astNode }) => name !== '_sources' || astNode)
      if (!latest || fields.length === 0 || !isWritten) {
        throw new ConfigError('the schema has no query field; add a grpc or rest source, or typeDefs')
      }
      return latest
    },
  }
}

/**
 * The WebSocket handler of one gateway, at the path of the endpoint and at the path below it for sockets only. It listens
 * on a separate server that takes no connections, so that a reload can hand upgrades from one gateway to the next at once.
 */
function createLiveSockets(
  plugin: LiveQueryPlugin,
  { config, access, paths }: Parts,
  http: HttpSettings,
  clientOf: LiveServerOptions['clientOf'],
) {
  const served = [paths.graphqlLive, paths.graphql]
  const hub = createServer()
  const servers = served.map((path) =>
    attachLiveServer(hub, {
      plugin,
      allowedOrigins: allowedOrigins(config, http),
      clientOf,
      ...(config.liveQuery && { updateFields: config.liveQuery.updateFields, ...config.liveQuery.sockets }),
      ...access.sockets,
      path,
    }),
  )
  let closed: Promise<unknown> | undefined

  return {
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      // Node leaves the socket without a listener; without one, a client's reset would end the process.
      socket.on('error', () => {})
      if (served.includes(pathnameOf(request.url ?? '/'))) hub.emit('upgrade', request, socket, head)
      else refuseUpgrade(socket, 404)
    },
    /** Closes every socket with 1001; safe to call twice. */
    async close(): Promise<void> {
      closed ??= Promise.all(servers.map((server) => server.close()))
      await closed
    },
  }
}

/** Whoever asks may be a stranger's page. */
function isOriginRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'LIVE_QUERY_ORIGIN'
}

/** With live queries off, sockets still serve queries, mutations and subscriptions. */
function livePlugin({ config: { liveQuery }, bus, logger, access }: Parts): LiveQueryPlugin {
  const onError = (error: unknown): void =>
    isOriginRefused(error)
      ? logger.warn(
          error,
          'WebSocket refused because its origin is not allowed; add the origin to liveQuery.allowedOrigins, or to graphql.cors if liveQuery.allowedOrigins is not set',
        )
      : logger.error(error, 'live query failed')
  if (liveQuery === false) return useLiveQuery({ maxSubscriptions: 0, onError })
  const { allowedOrigins: _, updateFields: __, sockets: ___, ...options } = liveQuery ?? {}
  return useLiveQuery({ ...options, ...access.live, bus, onError })
}

/** Pages that may ask over HTTP may open a socket. */
function allowedOrigins({ liveQuery }: GatewayConfig, { cors }: HttpSettings): AllowedOrigins {
  const own = liveQuery === false ? undefined : liveQuery?.allowedOrigins
  return (own ?? originsOf(cors)).map((origin) => toPattern(origin) ?? origin)
}

const READINESS_TIMEOUT_MS = 2000
const REMEMBERED_MS = 1000

/** Only sources that the config calls `required` count for readiness: any other may fail without taking all replicas out. */
function createHealth(sources: readonly Source[], config: SourceSections) {
  const of = (signal: AbortSignal, asked = sources): Promise<SourceHealth[]> =>
    Promise.all(asked.map((source) => source.health(signal)))
  const required = sources.filter(({ kind, name }) => config[kind]?.[name]?.required)
  const areSourcesHealthy = rememberBriefly(async () => {
    const reports = await of(AbortSignal.timeout(READINESS_TIMEOUT_MS), required)
    return reports.every((source) => source.healthy)
  }, REMEMBERED_MS)
  let draining = false
  return {
    of: (signal: AbortSignal) => of(signal),
    get isDraining() {
      return draining
    },
    isReady: async () => !draining && areSourcesHealthy(),
    startDraining() {
      draining = true
    },
  }
}

const LOGO = `<svg viewBox="0 0 40 40" width="28" height="28" aria-hidden="true" style="margin:auto;color:hsl(var(--color-primary))">
  <path d="M4 30 C12 30 12 10 20 10 S28 30 36 30" fill="none" stroke="currentColor" stroke-width="4" stroke-linecap="round"/>
  <circle cx="20" cy="10" r="4" fill="currentColor"/></svg>`

/** GraphiQL with a tab for each example: the config's own, or ones made for the schema. */
function graphiqlOptions(
  schema: GraphQLSchema,
  examples: readonly ExampleOperation[] | undefined,
): GraphiQLOptions {
  const tabs = (examples ?? examplesFor(schema)).map(({ query, variables }) => ({
    query,
    ...(variables !== undefined && { variables }),
  }))
  return {
    title: 'Vinyasa',
    logo: LOGO,
    defaultEditorToolsVisibility: false,
    ...(tabs.length > 0 && { defaultTabs: tabs }),
  }
}

/** Adds each subscription that is sent, whatever it came by, to the streams that end when the gateway stops. */
function useOpenStreams(streams: OpenStreams): Plugin {
  return {
    onSubscribe: () => ({
      onSubscribeResult({ result, setResult }) {
        if (isAsyncIterable(result)) setResult(streams.add(result[Symbol.asyncIterator]()) as never)
      },
    }),
  }
}

/** The composed GraphQL server, not listening yet: see `serve`. */
export interface Gateway {
  readonly schema: GraphQLSchema
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
  /** Paths of health probes and scrapes. */
  readonly probePaths: readonly string[]
  /** Announce changes here that no mutation of this gateway made. */
  readonly bus: InvalidationBus
  /** Answers one request without a network. */
  fetch(request: Request): Promise<Response>
  handle(request: IncomingMessage, response: ServerResponse): void
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Records how a request ended without a response of Yoga's: refused, ended by a deadline, or left by its client. */
  ended(end: RequestEnd): void
  /** The server that serves this gateway gives the metrics its load. */
  measureLoad(read: () => LoadReading): void
  /** Asks every source. */
  health(signal: AbortSignal): Promise<readonly SourceHealth[]>
  /** Paths that its sources were read from. */
  readonly files: readonly string[]
  /**
   * Notes on what sources left out, or call otherwise than their descriptions do, on what cannot be live, and
   * on what nobody may have.
   */
  readonly notes: readonly Note[]
  /**
   * From now on `/health/ready` answers 503; WebSockets and event streams are closed, so that clients go elsewhere. Subscriptions
   * are `complete` before, unless another gateway follows, which their clients come back to.
   */
  startDraining(options?: { readonly isFollowed?: boolean | undefined }): void
  /** Ends WebSockets and lets go of every backend. */
  close(): Promise<void>
}

/** Time for `complete` to get onto the wire before what it came by is closed. */
const TO_END_MS = 100

/** Puts the parts together; nothing is opened. */
export function compose(parts: Parts): Gateway {
  const { config, logger, bus, cache, sources, closeBackends, observability, readings, access, paths } = parts
  const { activity } = observability
  const http = httpSettings(config)
  const live = livePlugin(parts)
  readings.live = () => live.store.stats()
  readings.cacheBytes = () => cache?.stats().bytes
  const clientOf = clientsBy(createTrustedProxies(config.server?.trustProxy ?? false))
  const liveSockets = createLiveSockets(live, parts, http, clientOf)
  const liveStreams = createLiveStreams(live)
  const subscriptions = new OpenStreams()
  const schema = holdSchema(config, sources)
  const health = createHealth(sources, config)
  const documentRoom = createDocumentRoom(http.documentCacheMaxBytes)
  const yoga = createYoga({
    graphqlEndpoint: paths.graphql,
    // Yoga's own answers whatever ends so, in a query too, and cannot be left out: no target ends so.
    healthCheckEndpoint: ' ',
    landingPage: false,
    logging: yogaLogging(logger),
    maskedErrors: http.maskedErrors && { isDev: false },
    cors: corsFor(http.cors),
    parserAndValidationCache: documentCache(documentRoom),
    batching: http.batching > 1 && { limit: http.batching },
    // useRequestBody does it.
    maxRequestBodySize: false,
    graphiql: http.graphiql && (() => graphiqlOptions(schema.current(), config.graphql?.examples)),
    renderGraphiQL,
    plugins: pluginsOf(parts, {
      http,
      live,
      status: activity && useStatusPage(figuresOf({ ...parts, activity })),
      liveStreams: liveStreams.plugin,
      subscriptions: useOpenStreams(subscriptions),
      schema: schema.plugin,
      documentRoom,
      isReady: health.isReady,
    }),
  })

  // The sources set the schema when Yoga prepares its first operation: here, so that mistakes show at the start.
  yoga.getEnveloped({})
  checkConfig(schema.current(), config)
  const acceptTarget = acceptTargets()
  const nodeHandler = createNodeHandler(yoga)
  tellSlowPaths(nodeHandler, logger)

  return {
    schema: schema.current(),
    endpoint: paths.graphql,
    // A scrape must show an overload.
    probePaths: [paths.live, paths.ready, METRICS_PATH],
    bus,
    fetch: async (request) => yoga.fetch(request),
    handle(request, response) {
      access.note(request)
      void nodeHandler(request, response)
    },
    handleUpgrade(request, socket, head) {
      const refusal = health.isDraining ? 503 : acceptTarget(request)
      if (refusal) return refuseUpgrade(socket, refusal)
      access.note(request)
      liveSockets.handleUpgrade(request, socket, head)
    },
    ended: (end) => observability.ended(end),
    measureLoad: (read) => void (readings.load = read),
    health: health.of,
    get files() {
      return sources.flatMap((source) => source.files)
    },
    notes: noteAll(schema.current(), parts),
    startDraining({ isFollowed = false } = {}) {
      health.startDraining()
      // Clients are told `complete`.
      if (!isFollowed) {
        subscriptions.close()
        live.refuseStreams()
      }
      liveStreams.close(isFollowed ? 0 : TO_END_MS)
      if (isFollowed) void liveSockets.close()
      else backgroundClock.setTimeout(() => void liveSockets.close(), TO_END_MS)
    },
    async close() {
      await liveSockets.close()
      await yoga.dispose()
      await closeBackends()
      observability.end()
    },
  }
}

function tellSlowPaths({ slowPathReasons, uncachedReasons }: NodeHandler, logger: Logger): void {
  if (slowPathReasons.length > 0)
    logger.info(`Requests use Yoga's slower HTTP path: ${slowPathReasons.join('; ')}`)
  if (uncachedReasons.length > 0)
    logger.info(
      `Repeated operations cannot use the path for cached operations and need more CPU time: ${uncachedReasons.join('; ')}`,
    )
}
