export interface Lifetime {
  /** Milliseconds for which an entry is fresh. */
  readonly ttlMs: number
  /** Milliseconds after that in which it may still be served while it is refreshed. */
  readonly staleMs: number
}

/** A year: Redis and JSON know no endless time, and RFC 9111 lets caches expect no more of `max-age`. */
const LONGEST_MS = 365 * 24 * 60 * 60 * 1000

/** Whatever options and schemas ask for, as every store and every client can hold it. */
export function boundedLifetime({ ttlMs, staleMs }: Lifetime): Lifetime {
  return { ttlMs: Math.min(ttlMs, LONGEST_MS), staleMs: Math.min(staleMs, LONGEST_MS) }
}

export type Freshness = 'fresh' | 'stale' | 'miss'

/** Specification: "Cached response entry". Ages and lifetimes in milliseconds. */
export function freshness(ageMs: number, { ttlMs, staleMs }: Lifetime): Freshness {
  if (ageMs < ttlMs) return 'fresh'
  if (staleMs > 0 && ageMs <= ttlMs + staleMs) return 'stale'
  return 'miss'
}
