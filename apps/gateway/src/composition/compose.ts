import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import type { InvalidationBus } from '@vinyasa/invalidation'
import { useLiveQuery, type LiveQueryPlugin } from '@vinyasa/live-query'
import type { AllowedOrigins } from '@vinyasa/live-query/ws'
import { acceptTargets, createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/pipeline'
import { useResponseCache, type ResponseCache } from '@vinyasa/response-cache'
import { useSources } from '@vinyasa/source-kit'
import type { DocumentNode, GraphQLSchema } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { Access } from '../access/access.ts'
import { noteUnmetRules } from '../access/rules/unmet-rules.ts'
import { checkConfig } from './check-config.ts'
import { lateBackends } from './late-backends.ts'
import type { GatewayConfig } from '../config/types.ts'
import { federationSource } from '../federation/federation-source.ts'
import { graphiqlOptions } from '../graphiql/options.ts'
import { renderGraphiQL } from '../graphiql/render.ts'
import { corsFor, originsOf, toPattern } from '../http/cors.ts'
import { useParameterTypes } from '../http/parameters.ts'
import type { GatewayPaths } from '../http/paths.ts'
import { useInvalidateEndpoint } from '../http/invalidate.ts'
import { useLeftClients } from '../http/left-clients.ts'
import { createLiveSockets } from '../http/live-sockets.ts'
import { refuseUpgrade } from '../http/refuse-upgrade.ts'
import { createTrustedProxies } from '../http/trusted-proxies.ts'
import { createLiveStreams } from '../http/live-streams.ts'
import { rememberBriefly, useReadiness } from '../http/readiness.ts'
import { costPlugins } from '../cost/cost-limit.ts'
import { documentCache } from '../limits/document-cache.ts'
import { unknownLiveAskers } from '../dependencies/live-askers.ts'
import { useOperationSources } from '../dependencies/own-code/operation-sources.ts'
import { withRecordedReads } from '../dependencies/own-code/recorded-resolvers.ts'
import { createViewOf } from '../dependencies/own-code/view-of.ts'
import type { Logger } from '../logging/logger.ts'
import { yogaLogging } from '../logging/yoga-logging.ts'
import type { Observability } from '../observability/observability.ts'
import type { LateReadings } from '../observability/metrics/late-readings.ts'
import type { OpenedBus } from '../bus/open-bus.ts'
import { useOwnMutations } from '../dependencies/own-mutations.ts'
import { mayWrapExecutor, refuseDoubles } from './plugin-order.ts'
import { httpSettings, type HttpSettings } from '../presets.ts'
import { holdSchema } from '../schema/hold-schema.ts'
import { typeDefsSource } from '../schema/type-defs-source.ts'
import { networkOf } from '../rate-limit/client-address.ts'
import { safetyPlugins } from '../safety/plugins.ts'
import { declaredSources } from '../sources/kinds.ts'
import type { Source, SourceHealth } from '../sources/source.ts'
import { statusReadings } from '../status/readings.ts'
import { createStatus } from '../status/status.ts'
import { withBehaviour } from '../behaviour.ts'

/** The composed GraphQL server, not listening yet: see `serve`. */
export interface Gateway {
  readonly schema: GraphQLSchema
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
  /** Paths where those who watch over the process ask whether it is well. */
  readonly probePaths: readonly string[]
  /** Announce changes here that no mutation of this gateway made. */
  readonly bus: InvalidationBus
  /** Answers one request without a network. */
  fetch(request: Request): Promise<Response>
  handle(request: IncomingMessage, response: ServerResponse): void
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Asks every source. */
  health(signal: AbortSignal): Promise<readonly SourceHealth[]>
  /** Paths that its sources were read from. */
  readonly files: readonly string[]
  /**
   * Notes on what sources left out, or call otherwise than their descriptions do, on what cannot be live, and
   * on what nobody may have.
   */
  readonly notes: readonly { readonly source: string; readonly note: string }[]
  /** From now on `/health/ready` answers 503; WebSockets and event streams are closed, so that clients go elsewhere. */
  startDraining(): void
  /** Ends WebSockets and lets go of every backend. */
  close(): Promise<void>
}

/** The parts that a gateway is made of. */
interface Parts {
  readonly config: GatewayConfig
  readonly logger: Logger
  readonly bus: InvalidationBus
  readonly broker: OpenedBus['broker']
  readonly cache: ResponseCache | undefined
  readonly sources: readonly Source[]
  readonly closeBackends: () => Promise<void>
  readonly observability: Observability
  readonly readings: LateReadings
  readonly access: Access
  readonly paths: GatewayPaths
  readonly typeDefs: DocumentNode | undefined
}

const READINESS_TIMEOUT_MS = 2000

/** Puts the parts together; nothing is opened. */
export function compose(parts: Parts): Gateway {
  const {
    config,
    logger,
    bus,
    cache,
    sources,
    closeBackends,
    observability,
    readings,
    access,
    paths,
    typeDefs,
  } = parts
  const { activity } = observability
  const http = httpSettings(config)
  const live = livePlugin(config, { bus, logger, access })
  readings.live = () => live.store.stats()
  readings.cacheBytes = () => cache?.stats().bytes
  const proxies = createTrustedProxies(config.server?.trustProxy ?? false)
  const liveSockets = createLiveSockets({
    plugin: live,
    paths: [paths.graphqlLive, paths.graphql],
    logger,
    allowedOrigins: allowedOrigins(config, http),
    clientOf: (request) => networkOf(proxies.addressOf(request)),
    limits: config.liveQuery === false ? undefined : config.liveQuery?.sockets,
    access: access.sockets,
  })
  const status = activity && createStatus({ readings: statusReadings({ ...parts, activity }), logger })
  const cachePlugin = cache && useResponseCache(cache)
  const defer = deferPlugin(config)
  const added = config.plugins ?? []
  refuseDoubles(added, {
    responseCache: cachePlugin,
    defer: config.defer === false ? undefined : defer,
    liveQuery: config.liveQuery === false ? undefined : live,
  })
  const isDeferFirst = mayWrapExecutor(added)
  const liveStreams = createLiveStreams()
  const schema = holdSchema(config, sources)
  const viewOf = createViewOf(config)
  const resolvers =
    config.resolvers && viewOf ? withRecordedReads(config.resolvers, viewOf) : config.resolvers
  let draining = false

  const health = (signal: AbortSignal): Promise<SourceHealth[]> =>
    Promise.all(sources.map((source) => source.health(signal)))

  const areSourcesHealthy = rememberBriefly(async () => {
    const reports = await health(AbortSignal.timeout(READINESS_TIMEOUT_MS))
    return reports.every((source) => source.healthy)
  })

  async function isReady(): Promise<boolean> {
    return !draining && areSourcesHealthy()
  }

  const yoga = createYoga({
    graphqlEndpoint: paths.graphql,
    healthCheckEndpoint: paths.live,
    landingPage: false,
    logging: yogaLogging(logger),
    maskedErrors: http.maskedErrors && { isDev: false },
    cors: corsFor(http.cors),
    parserAndValidationCache: documentCache(),
    batching: http.batching > 1 && { limit: http.batching },
    // useRequestBody does it.
    maxRequestBodySize: false,
    graphiql: http.graphiql && (() => graphiqlOptions(schema.current(), config.graphql?.examples)),
    renderGraphiQL,
    plugins: [
      useOperationSources(sources),
      useReadiness({ path: paths.ready, isReady }),
      useParameterTypes(),
      useLeftClients(),
      ...access.first,
      ...(isDeferFirst ? [defer] : []),
      // Before the cache, so that one that hooks into parse, validate or execute sees hits like misses.
      ...added,
      ...(cachePlugin ? [cachePlugin] : []),
      ...observability.plugins,
      ...(status ? [withBehaviour(status.plugin)] : []),
      ...(config.invalidate ? [withBehaviour(useInvalidateEndpoint({ ...config.invalidate, bus }))] : []),
      ...safetyPlugins(http),
      ...(isDeferFirst ? [] : [defer]),
      useOwnMutations(bus),
      ...costPlugins(config, observability.observeCost),
      ...access.beforeLive,
      live,
      withBehaviour(liveStreams.plugin),
      ...sources.map((source) => source.plugin),
      useSources(
        [
          ...typeDefsSource(typeDefs, resolvers, viewOf),
          ...federationSource({ ...config, resolvers }, declaredSources(config)),
        ],
        config.graphql?.limits,
      ),
      schema.plugin,
      usePipeline({ liftLiterals: true }),
    ],
  })

  // The sources set the schema when Yoga prepares its first operation: here, so that mistakes show at the start.
  yoga.getEnveloped({})
  checkConfig(schema.current(), config)
  const acceptTarget = acceptTargets()
  const nodeHandler = createNodeHandler(yoga)
  if (nodeHandler.slowPathReasons.length > 0) {
    logger.info(`JSON requests take Yoga's slower HTTP path: ${nodeHandler.slowPathReasons.join('; ')}`)
  }
  if (nodeHandler.preparedPathReasons.length > 0) {
    logger.info(`Prepared queries go through every hook: ${nodeHandler.preparedPathReasons.join('; ')}`)
  }

  const notLive = unknownLiveAskers(schema.current(), config)
  const unmet = noteUnmetRules(schema.current(), config)
  const late = lateBackends(config)
  for (const note of [...notLive, ...unmet, ...late.map((one) => one.note)]) logger.warn(note)

  return {
    schema: schema.current(),
    endpoint: paths.graphql,
    probePaths: [paths.live, paths.ready],
    bus,
    fetch: async (request) => yoga.fetch(request),
    handle(request, response) {
      access.note(request)
      void nodeHandler(request, response)
    },
    handleUpgrade(request, socket, head) {
      if (!acceptTarget(request)) return refuseUpgrade(socket, 400)
      access.note(request)
      const sockets = status?.serves(request) ? status.sockets : liveSockets
      sockets.handleUpgrade(request, socket, head)
    },
    health,
    get files() {
      return sources.flatMap((source) => source.files)
    },
    notes: [
      ...sources.flatMap(({ name, notes }) => notes.map((note) => ({ source: name, note }))),
      ...notLive.map((note) => ({ source: 'liveQuery', note })),
      ...unmet.map((note) => ({ source: 'access', note })),
      ...late,
    ],
    startDraining() {
      draining = true
      void liveSockets.close()
      liveStreams.close()
      void status?.sockets.close()
    },
    async close() {
      await Promise.all([liveSockets.close(), status?.close()])
      await yoga.dispose()
      await closeBackends()
    },
  }
}

function deferPlugin({ defer, preset = 'development' }: GatewayConfig): Plugin {
  return useDeferSplitter(defer === false ? 'disabled' : (defer ?? preset))
}

/** With live queries off, sockets still serve queries, mutations and subscriptions. */
function livePlugin(
  { liveQuery }: GatewayConfig,
  { bus, logger, access }: Pick<Parts, 'bus' | 'logger' | 'access'>,
): LiveQueryPlugin {
  const onError = (error: unknown): void => logger.error(error, 'live query')
  if (liveQuery === false) return useLiveQuery({ maxSubscriptions: 0, onError })
  const { allowedOrigins: _, sockets: __, ...options } = liveQuery ?? {}
  return useLiveQuery({ ...options, ...access.live, bus, onError })
}

/** Pages that may ask over HTTP may open a socket. */
function allowedOrigins({ liveQuery }: GatewayConfig, { cors }: HttpSettings): AllowedOrigins {
  const own = liveQuery === false ? undefined : liveQuery?.allowedOrigins
  return (own ?? originsOf(cors)).map((origin) => toPattern(origin) ?? origin)
}
