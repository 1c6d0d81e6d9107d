import { backgroundClock } from '@vinyasa/core'
import { LRUCache } from 'lru-cache'
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
/** Sweeps go round all entries within ten seconds, so that those that expired leave even if nobody asks for them. */
const SWEEP_EVERY_MS = 1_000
const LEAST_SWEPT = 1_000
const SWEPT_SHARE = 1 / 10
/** More entries than this are limited by their bytes alone: the cache makes room for all of them at its start. */
const MOST_COUNTED = 1_000_000

export function createMemoryStore({ maxSize, maxBytes, clock, onEvict }: MemoryStoreOptions): MemoryStore {
  const maxEntryBytes = Math.floor(Math.min(maxBytes, Number.MAX_SAFE_INTEGER) * LARGEST_SHARE)
  const entries = new LRUCache<string, CacheEntry>({
    max: maxSize > MOST_COUNTED ? 0 : Math.floor(maxSize),
    maxSize: Math.max(1, Math.floor(Math.min(maxBytes, Number.MAX_SAFE_INTEGER))),
    maxEntrySize: Math.max(1, maxEntryBytes),
    sizeCalculation: sizeOf,
    dispose: (_entry, key, reason) => {
      if (reason === 'evict') onEvict(key)
    },
  })
  /** Keys of this round: a reader moves entries in the cache itself, where a walk would meet them again and again. */
  let unswept: string[] = []
  let sweeping: unknown

  const takes = (entry: CacheEntry): boolean => maxSize >= 1 && sizeOf(entry) <= maxEntryBytes

  function sweep(): void {
    if (unswept.length === 0) unswept = [...entries.keys()]
    const now = clock.now()
    for (const key of unswept.splice(-Math.max(LEAST_SWEPT, Math.ceil(entries.size * SWEPT_SHARE)))) {
      const entry = entries.peek(key)
      if (entry && now - entry.storedAt > entry.ttlMs + entry.staleMs) entries.delete(key)
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
    get: (key) => entries.get(key),
    set(key, entry) {
      if (!takes(entry)) return void entries.delete(key)
      entries.set(key, entry)
      sweepLater()
    },
    delete: (key) => entries.delete(key),
    clear() {
      entries.clear()
      unswept = []
      backgroundClock.clearTimeout(sweeping)
      sweeping = undefined
    },
    get size() {
      return entries.size
    },
    get bytes() {
      return entries.calculatedSize
    },
  }
}

const sizeOf = (entry: CacheEntry): number => bytesOf(entry) + ENTRY_BYTES
