export interface Lifetime {
  /** Milliseconds for which an entry is fresh. */
  readonly ttlMs: number
  /** Milliseconds after that in which it may still be served while it is refreshed. */
  readonly staleMs: number
}

/** Specification: "Cached response entry". Ages and lifetimes in milliseconds. */
export function freshness(ageMs: number, { ttlMs, staleMs }: Lifetime): 'fresh' | 'stale' | 'miss' {
  if (ageMs < ttlMs) return 'fresh'
  if (staleMs > 0 && ageMs <= ttlMs + staleMs) return 'stale'
  return 'miss'
}
