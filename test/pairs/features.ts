import type { Triples } from './covering-rows.ts'
import type { Feature } from './feature.ts'
import { invalidate, status } from './features/announced.ts'
import { cache, clientMaxAge } from './features/cache.ts'
import { apq, documents } from './features/documents.ts'
import { endpoint } from './features/endpoint.ts'
import { exposeErrors } from './features/errors.ts'
import { federation } from './features/federation.ts'
import { forward } from './features/forward.ts'
import { auth } from './features/jwt.ts'
import { cost, limits, rateLimit } from './features/limits.ts'
import { live } from './features/live.ts'
import { log } from './features/log.ts'
import { metrics } from './features/metrics.ts'
import { plugin } from './features/plugins.ts'
import { launcher, proxy, reload } from './features/process.ts'
import { resolvers } from './features/resolvers.ts'
import { gateways, nats, redis, workers } from './features/shared.ts'
import { preset, server, sources } from './features/sources.ts'
import { tracing } from './features/tracing.ts'
import { uploads } from './features/uploads.ts'
import { batching, defer } from './features/ways.ts'

/** All features. The first ones bring what others add to; the last one scrapes when all else is over. */
export const FEATURES: readonly Feature[] = [
  sources,
  preset,
  server,
  endpoint,
  forward,
  cache,
  clientMaxAge,
  redis,
  nats,
  workers,
  gateways,
  launcher,
  proxy,
  reload,
  resolvers,
  auth,
  limits,
  cost,
  rateLimit,
  documents,
  apq,
  batching,
  defer,
  exposeErrors,
  plugin,
  federation,
  uploads,
  invalidate,
  status,
  live,
  tracing,
  log,
  metrics,
]

/** Who asks, what is shared among callers, and among how many processes. */
export const TRIPLES: Triples = [
  ['forward', 'resolvers', 'jwt'],
  ['cache', 'live', 'sources'],
  ['redis', 'nats', 'workers', 'gateways'],
]
