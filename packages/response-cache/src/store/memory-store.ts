import { backgroundClock } from '@vinyasa/base'
import { bytesOf, type CacheEntry } from './entry.ts'

/** Entries of this process, the least recently used leaving first. */
export interface MemoryStore {
  get(key: string): CacheEntry | undefined
  /** Keeps nothing that `takes` refuses. */
  set(key: string, entry: CacheEntry): void
  /** Whether an entry is small enough to be kept. */
  takes(entry: CacheEntry): boolean
  delete(key: string): boolean
  clear(): void
  readonly size: number
  /** Bytes that all entries take. */
  readonly bytes: number
}

export interface MemoryStoreOptions {
  /** Most entries, and most bytes of all of them. */
  readonly maxSize: number
  readonly maxBytes: number
  readonly clock: { now(): number }
  onEvict(key: string): void
}

/** The part of all bytes that one entry may take: one answer is not to drive out thousands. */
const LARGEST_SHARE = 1 / 16
/** Bytes that an entry takes beyond its body: key, tags and the objects around them. */
const ENTRY_BYTES = 512
/** Sweeps go round all entries, so that those that expired leave even if nobody asks for them. */
const SWEEP_EVERY_MS = 1_000
const SWEPT_AT_A_TIME = 1_000

export function createMemoryStore({ maxSize, maxBytes, clock, onEvict }: MemoryStoreOptions): MemoryStore {
  // A Map keeps insertion order: reading moves an entry to the end, the first one is the oldest.
  const entries = new Map<string, CacheEntry>()
  const maxEntryBytes = maxBytes * LARGEST_SHARE
  let bytes = 0
  let hand: MapIterator<[string, CacheEntry]> | undefined
  let sweeping: unknown

  const takes = (entry: CacheEntry): boolean => maxSize > 0 && sizeOf(entry) <= maxEntryBytes

  function remove(key: string): boolean {
    const entry = entries.get(key)
    if (!entry) return false
    bytes -= sizeOf(entry)
    return entries.delete(key)
  }

  function evict(): void {
    for (const key of entries.keys()) {
      if (entries.size <= maxSize && bytes <= maxBytes) return
      remove(key)
      onEvict(key)
    }
  }

  function sweep(): void {
    const now = clock.now()
    for (let count = 0; count < SWEPT_AT_A_TIME; count++) {
      const next = (hand ??= entries.entries()).next()
      if (next.done) {
        hand = undefined
        break
      }
      const [key, { storedAt, ttlMs, staleMs }] = next.value
      if (now - storedAt > ttlMs + staleMs) remove(key)
    }
    sweeping = undefined
    sweepLater()
  }

  function sweepLater(): void {
    // It keeps no process alive, and no empty cache.
    if (entries.size > 0) sweeping ??= backgroundClock.setTimeout(sweep, SWEEP_EVERY_MS)
  }

  return {
    takes,
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry
    },
    set(key, entry) {
      remove(key)
      if (!takes(entry)) return
      entries.set(key, entry)
      bytes += sizeOf(entry)
      evict()
      sweepLater()
    },
    delete: remove,
    clear() {
      entries.clear()
      bytes = 0
      hand = undefined
      backgroundClock.clearTimeout(sweeping)
      sweeping = undefined
    },
    get size() {
      return entries.size
    },
    get bytes() {
      return bytes
    },
  }
}

const sizeOf = (entry: CacheEntry): number => bytesOf(entry) + ENTRY_BYTES
