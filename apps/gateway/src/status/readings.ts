import { systemClock } from '@vinyasa/base'
import type { GatewayConfig } from '../config/types.ts'
import { type GatewayPaths, METRICS_PATH } from '../http/paths.ts'
import type { Activity } from '../observability/activity.ts'
import type { LateReadings } from '../observability/metrics/late-readings.ts'
import type { BrokerState, OpenedBus } from '../bus/open-bus.ts'
import { httpSettings } from '../presets.ts'
import type { Source } from '../sources/source.ts'
import { version } from '../version.ts'
import type { BackendStatus, StatusLink, StatusReadings } from './schema.ts'

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

/** Returns what the status page shows of a composed gateway. */
export function statusReadings(parts: StatusParts): StatusReadings {
  const { config, paths, activity, readings, sources, broker } = parts
  const own = version()
  return {
    // What was built from the sources between releases has none.
    version: own === '0.0.0' ? undefined : own,
    preset: config.preset ?? 'development',
    processId: process.pid,
    startedAt: systemClock.wallNow(),
    hasCache: config.responseCache !== undefined && config.responseCache !== false,
    links: linksOf(config, paths),
    activity: activity.read,
    live: () => readings.live(),
    async backends() {
      const asked = await Promise.all(sources.map(statusOf))
      return broker ? [...asked, brokerStatus(broker())] : asked
    },
  }
}

async function statusOf({ name, kind, health, breaker }: Source): Promise<BackendStatus> {
  const { healthy, reason } = await health(AbortSignal.timeout(HEALTH_TIMEOUT_MS))
  return { name, kind, up: healthy, reason, breaker: breaker?.() }
}

function brokerStatus({ kind, connected, reason }: BrokerState): BackendStatus {
  return { name: kind, kind, up: connected, reason }
}

function linksOf(config: GatewayConfig, paths: GatewayPaths): readonly StatusLink[] {
  const { metrics = config.preset !== 'production' } = config
  return [
    ...(httpSettings(config).graphiql ? [{ label: 'GraphiQL', href: paths.graphql }] : []),
    ...(metrics === false ? [] : [{ label: 'Metrics', href: METRICS_PATH }]),
    { label: 'Readiness', href: paths.ready },
  ]
}
