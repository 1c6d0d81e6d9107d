import type { BreakerReading, MetricsReadings } from './metrics.ts'

/** Readings that are set later, because metrics are created before the sources and live queries that they observe. */
export interface LateReadings extends MetricsReadings {
  live: MetricsReadings['live']
  load?: MetricsReadings['load']
  cacheBytes: MetricsReadings['cacheBytes']
}

/** A source of the gateway, with the state of its circuit breaker if it has one. */
interface Source {
  readonly name: string
  readonly breaker?: (() => BreakerReading['state']) | undefined
}

export function lateReadings(
  sources: () => readonly Source[],
  lostLogLines: () => number = () => 0,
): LateReadings {
  return {
    lostLogLines,
    live: () => undefined,
    cacheBytes: () => undefined,
    breakers: () =>
      sources().flatMap(({ name, breaker }) => (breaker ? [{ source: name, state: breaker() }] : [])),
  }
}
