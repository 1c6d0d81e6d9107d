import type { BreakerState } from '../retry/breaker.ts'

/** Counts since the connector was created. */
export interface RestConnectorStats {
  /** All calls of endpoints. */
  readonly calls: number
  /** Requests sent, retries included. */
  readonly requests: number
  readonly retries: number
  /** Calls that ended in an error. */
  readonly failures: number
  readonly cacheHits: number
  readonly cacheMisses: number
  /** Cached responses that the upstream confirmed with a 304. */
  readonly revalidated: number
  /** Calls that shared a request in flight. */
  readonly shared: number
  /** Current number of responses in the cache. */
  readonly cached: number
  readonly breaker: BreakerState
}

export type Counters = {
  -readonly [Name in Exclude<keyof RestConnectorStats, 'cached' | 'breaker'>]: number
}

export function createCounters(): Counters {
  return {
    calls: 0,
    requests: 0,
    retries: 0,
    failures: 0,
    cacheHits: 0,
    cacheMisses: 0,
    revalidated: 0,
    shared: 0,
  }
}
