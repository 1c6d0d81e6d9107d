import { type Clock, createExpiry } from '@vinyasa/core'
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
  readonly clock: Clock
  onEvict(key: string): void
}

/** The part of all bytes that one entry may take: one answer is not to drive out thousands. */
const LARGEST_SHARE = 1 / 16
/** Bytes that an entry takes beyond its body: key, tags and the objects around them. */
const ENTRY_BYTES = 512
/** More entries than this are limited by their bytes alone: the cache makes room for all of them at its start. */
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

/** Time after which an entry is neither fresh nor stale. */
const expiresAt = ({ storedAt, ttlMs, staleMs }: CacheEntry): number => storedAt + ttlMs + staleMs
