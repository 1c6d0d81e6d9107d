import { type Clock, createExpiry } from '@vinyasa/core'
import { LRUCache } from 'lru-cache'
import { bytesOf, type CacheEntry } from './entry.ts'

/** The entries of this process. The least recently used entries are evicted first. */
export interface MemoryStore {
  get(key: string): CacheEntry | undefined
  /** Stores an entry. Entries that `takes` refuses are ignored. */
  set(key: string, entry: CacheEntry): void
  /** Returns whether an entry is small enough. */
  takes(entry: CacheEntry): boolean
  delete(key: string): boolean
  clear(): void
  readonly size: number
  /** Bytes of all entries. */
  readonly bytes: number
}

export interface MemoryStoreOptions {
  /** Maximum number of entries, and of their bytes. */
  readonly maxSize: number
  readonly maxBytes: number
  readonly clock: Clock
  onEvict(key: string): void
}

/** Maximum share of all bytes for one entry, so that one response does not evict thousands. */
const LARGEST_SHARE = 1 / 16
/** Bytes of an entry in addition to its body: key, tags and objects. */
const ENTRY_BYTES = 512
/**
 * Above this number of entries, only their bytes are limited, because the cache allocates space for all entries at the
 * start.
 */
const MOST_COUNTED = 1_000_000

export function createMemoryStore({ maxSize, maxBytes, clock, onEvict }: MemoryStoreOptions): MemoryStore {
  const maxEntryBytes = Math.floor(Math.min(maxBytes, Number.MAX_SAFE_INTEGER) * LARGEST_SHARE)
  const entries = new LRUCache<string, CacheEntry>({
    max: maxSize > MOST_COUNTED ? 0 : Math.floor(maxSize),
    maxSize: Math.max(1, Math.floor(Math.min(maxBytes, Number.MAX_SAFE_INTEGER))),
    maxEntrySize: Math.max(1, maxEntryBytes),
    sizeCalculation: sizeOf,
    dispose: (entry, key, reason) => {
      expiry.drop(key, expiresAt(entry))
      if (reason === 'evict') onEvict(key)
    },
  })
  const expiry = createExpiry((key) => void entries.delete(key), clock)
  const takes = (entry: CacheEntry): boolean => maxSize >= 1 && sizeOf(entry) <= maxEntryBytes

  return {
    takes,
    get: (key) => entries.get(key),
    set(key, entry) {
      if (!takes(entry)) return void entries.delete(key)
      entries.set(key, entry)
      expiry.add(key, expiresAt(entry))
    },
    delete: (key) => entries.delete(key),
    clear() {
      expiry.clear()
      entries.clear()
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

/** Returns the time after which an entry is neither fresh nor stale. */
const expiresAt = ({ storedAt, ttlMs, staleMs }: CacheEntry): number => storedAt + ttlMs + staleMs
