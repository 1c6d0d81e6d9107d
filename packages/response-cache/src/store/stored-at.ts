import type { Clock } from '@vinyasa/base'
import { LazyEntry, type CacheEntry } from './entry.ts'

type Clocks = Pick<Clock, 'now' | 'wallNow'>

/** Clocks of two machines are never quite the same. */
const DIFFERENCE_MS = 1_000

/**
 * When an entry of a shared store was stored, by the clock of this process. One that claims to come from the future is old:
 * a clock was set back since, and nobody knows by how much.
 */
export function storedAtHere(clock: Clocks, wallStoredAt: number): number {
  const ageMs = clock.wallNow() - wallStoredAt
  return ageMs < -DIFFERENCE_MS ? -Infinity : clock.now() - Math.max(0, ageMs)
}

/** The same entry as a shared store keeps it. */
export function withWallTime(clock: Clocks, entry: CacheEntry): CacheEntry {
  const { body, ttlMs, staleMs, tags, version } = entry
  const storedAt = clock.wallNow() - (clock.now() - entry.storedAt)
  return new LazyEntry(body, { ttlMs, staleMs, tags, version, storedAt })
}
