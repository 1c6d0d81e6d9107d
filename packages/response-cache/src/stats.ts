import type { CacheEvent } from './options.ts'

/** Counts since the cache was created. */
export interface CacheStats {
  /** Entries in memory now. */
  readonly entries: number
  /** Bytes that they take, as `maxBytes` counts. */
  readonly bytes: number
  readonly hits: number
  readonly misses: number
  readonly stale: number
  readonly coalesced: number
  readonly bypassed: number
  readonly stored: number
  readonly evicted: number
  readonly invalidations: number
  readonly errors: number
}

const counterOf = {
  hit: 'hits',
  miss: 'misses',
  stale: 'stale',
  coalesced: 'coalesced',
  bypass: 'bypassed',
  stored: 'stored',
  evicted: 'evicted',
  invalidated: 'invalidations',
  error: 'errors',
} as const satisfies Record<Exclude<CacheEvent['type'], 'warning'>, keyof CacheStats>

export function createStats(): {
  stats(): Omit<CacheStats, 'entries' | 'bytes'>
  count(event: CacheEvent): void
} {
  const counts = Object.fromEntries(Object.values(counterOf).map((name) => [name, 0])) as {
    -readonly [Name in keyof Omit<CacheStats, 'entries' | 'bytes'>]: number
  }
  return {
    stats: () => ({ ...counts }),
    count(event) {
      if (event.type !== 'warning') counts[counterOf[event.type]]++
    },
  }
}
