import { systemClock } from '@vinyasa/base'
import type { OpenedBus } from '../bus/open-bus.ts'
import type { GatewayConfig } from '../config/types.ts'
import { METRICS_PATH, type GatewayPaths } from '../http/paths.ts'
import { withoutSecrets } from '../logging/outage.ts'
import type { Activity, ActivityReading } from '../observability/activity.ts'
import type { LateReadings } from '../observability/metrics/late-readings.ts'
import { httpSettings } from '../presets.ts'
import type { Source } from '../sources/source.ts'
import { version } from '../version.ts'

export interface StatusParts {
  readonly config: GatewayConfig
  readonly paths: GatewayPaths
  readonly activity: Activity
  readonly readings: LateReadings
  readonly sources: readonly Source[]
  readonly broker: OpenedBus['broker']
}

/** A backend that has not answered by then is down. */
const HEALTH_TIMEOUT_MS = 1000
const NO_CALLS = { calls: 0, failed: 0 }

/** Returns what reads the figures of the status page: of this process, since the gateway started or was reloaded. */
export function figuresOf(parts: StatusParts): () => Promise<object> {
  const { config, paths, activity, readings, sources, broker } = parts
  const own = version()
  const lasting = {
    // What was built from the sources between releases has none.
    version: own === '0.0.0' ? undefined : own,
    preset: config.preset ?? 'development',
    processId: process.pid,
    startedAt: systemClock.wallNow(),
    links: linksOf(config, paths),
  }
  return async () => {
    const asked = await Promise.all(sources.map(statusOf))
    const { kind, connected: up, reason } = broker?.() ?? {}
    const { cache, backends, ...counted } = activity.read()
    const live = readings.live()
    return {
      ...lasting,
      ...counted,
      // Null when the response cache is off.
      cache: config.responseCache ? cacheOf(cache) : null,
      live: {
        groups: live?.groups ?? 0,
        subscribers: live?.subscriptions ?? 0,
        runs: live?.executions ?? 0,
      },
      backends: [...asked, ...(kind ? [{ name: kind, kind, up, reason }] : [])].map((backend) => ({
        ...backend,
        reason: backend.reason && withoutSecrets(backend.reason),
        requests: backends[backend.name] ?? NO_CALLS,
      })),
    }
  }
}

async function statusOf({ name, kind, health, breaker }: Source) {
  const { healthy: up, reason } = await health(AbortSignal.timeout(HEALTH_TIMEOUT_MS))
  return { name, kind, up, reason, breaker: breaker?.() }
}

/** Hits are answers that no backend was asked for; there is no rate before the first of either. */
function cacheOf({ hit = 0, stale = 0, coalesced = 0, miss = 0 }: ActivityReading['cache']): object {
  const hits = hit + stale + coalesced
  return { hits, misses: miss, hitRate: hits + miss === 0 ? null : hits / (hits + miss) }
}

function linksOf(
  config: GatewayConfig,
  paths: GatewayPaths,
): readonly { readonly label: string; readonly href: string }[] {
  const { metrics = config.preset !== 'production' } = config
  return [
    ...(httpSettings(config).graphiql ? [{ label: 'GraphiQL', href: paths.graphql }] : []),
    ...(metrics === false ? [] : [{ label: 'Metrics', href: METRICS_PATH }]),
    { label: 'Readiness', href: paths.ready },
  ]
}
