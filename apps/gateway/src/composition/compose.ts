import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { backgroundClock, OpenStreams } from '@vinyasa/base'
import type { InvalidationBus } from '@vinyasa/invalidation'
import { acceptTargets, createNodeHandler, type NodeHandler } from '@vinyasa/node-handler'
import { createDocumentRoom } from '@vinyasa/pipeline'
import type { GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { useOpenStreams } from './use-open-streams.ts'
import { graphiqlOptions } from '../graphiql/options.ts'
import { renderGraphiQL } from '../graphiql/render.ts'
import { corsFor } from '../http/cors.ts'
import { METRICS_PATH } from '../http/paths.ts'
import { createLiveStreams } from '../http/live-streams.ts'
import { createTrustedProxies } from '../http/trusted-proxies.ts'
import { refuseUpgrade } from '@vinyasa/live-query/ws'
import { documentCache } from '../limits/document-cache.ts'
import type { Logger } from '../logging/logger.ts'
import type { LoadReading } from '../observability/metrics/metrics.ts'
import type { RequestEnd } from '../observability/recorder.ts'
import { yogaLogging } from '../logging/yoga-logging.ts'
import { httpSettings } from '../presets.ts'
import { clientsBy } from '../rate-limit/client-address.ts'
import { holdSchema } from '../schema/hold-schema.ts'
import type { SourceHealth } from '../sources/source.ts'
import { figuresOf } from '../status/figures.ts'
import { useStatusPage } from '../status/status.ts'
import { checkConfig } from './check-config.ts'
import { createHealth } from './health.ts'
import { livePlugin, socketsFor } from './live-queries.ts'
import type { Note } from './late-backends.ts'
import { noteAll } from './notes.ts'
import type { Parts } from './parts.ts'
import { pluginsOf } from './plugins.ts'

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
  const liveSockets = socketsFor(live, parts, { http, clientOf })
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

function tellSlowPaths({ slowPathReasons, preparedPathReasons }: NodeHandler, logger: Logger): void {
  if (slowPathReasons.length > 0)
    logger.info(`Requests use Yoga's slower HTTP path: ${slowPathReasons.join('; ')}`)
  if (preparedPathReasons.length > 0)
    logger.info(`Repeated operations run all plugin hooks and are slower: ${preparedPathReasons.join('; ')}`)
}
