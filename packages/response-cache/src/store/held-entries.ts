import type { Clock } from '@vinyasa/core'
import type { CacheEvent } from '../options.ts'
import type { CacheEntry, Lifetime } from './entry.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import { type Tags, typeOfTag } from './tags.ts'

/** Taken before an execution. The result can be stored only if it is still valid. */
export interface Ticket {
  readonly version: number
  /** The version of the shared store. If it is `undefined`, the store is unreachable and the result is not stored. */
  readonly remoteVersion: number | undefined
}

export type Lookup =
  | { readonly state: 'fresh' | 'stale'; readonly entry: CacheEntry; readonly ticket: Ticket }
  | { readonly state: 'miss'; readonly ticket: Ticket }
  /** The shared store is down, so the request is served without the cache. */
  | { readonly state: 'unavailable' }

/** Returns the state of an entry (specification: "Cached response entry"). Ages and lifetimes are in milliseconds. */
function freshness(ageMs: number, { ttlMs, staleMs }: Lifetime): 'fresh' | 'stale' | 'miss' {
  if (ageMs < ttlMs) return 'fresh'
  if (staleMs > 0 && ageMs <= ttlMs + staleMs) return 'stale'
  return 'miss'
}

/**
 * Counts invalidations and remembers the last invalidation of each tag. An entry holds the count before its execution.
 * It is valid if none of its tags was invalidated since. A result of outdated data therefore is neither stored nor
 * served, regardless of the order of events. The cost of an invalidation does not depend on the number of entries.
 */
interface VersionClock {
  now(): number
  holds(version: number, tags: readonly string[]): boolean
  /**
   * Returns whether nothing of these types was invalidated since `version`. It is used for results that do not exist
   * yet, whose entities are unknown.
   */
  isUntouched(version: number, types: readonly string[]): boolean
  invalidate(tags: Tags): void
}

/** Maximum number of remembered tags. Clients choose ids, and other programs choose the types of their events. */
const MAX_TAGS = 10_000

function createVersionClock(): VersionClock {
  let version = 0
  let floor = 0
  const lastInvalidated = new Map<string, number>()
  /** The last invalidation of any part of a type. */
  const lastTouched = new Map<string, number>()

  /** Limits the size of the map. If an entity is forgotten, all entities of its type count as invalidated. */
  function fold() {
    for (const [tag, at] of lastInvalidated) {
      const type = typeOfTag(tag)
      if (type === tag) continue
      lastInvalidated.delete(tag)
      lastInvalidated.set(type, Math.max(at, lastInvalidated.get(type) ?? 0))
    }
  }

  /** Marks all tags as invalidated now. */
  function forgetAll(): void {
    floor = version
    lastInvalidated.clear()
    lastTouched.clear()
  }

  function isSince(at: ReadonlyMap<string, number>, since: number, tags: readonly string[]): boolean {
    return since < floor || tags.some((tag) => (at.get(tag) ?? 0) > since)
  }

  return {
    now: () => version,
    holds: (since, tags) => !isSince(lastInvalidated, since, tags),
    isUntouched: (since, types) => !isSince(lastTouched, since, types),
    invalidate(tags) {
      version++
      if (tags === 'all') return forgetAll()
      for (const tag of tags) {
        lastInvalidated.set(tag, version)
        lastTouched.set(typeOfTag(tag), version)
      }
      if (lastInvalidated.size > MAX_TAGS) fold()
      if (lastInvalidated.size > MAX_TAGS) forgetAll()
    },
  }
}

export interface HeldEntriesOptions {
  /** Maximum number of entries, and of their bytes. */
  readonly maxSize: number
  readonly maxBytes: number
  /** If false, every entry is read from the shared store and only checked here. */
  readonly isMemoryUsed: boolean
  /** Maximum age in milliseconds of served entries, including fresh entries. */
  readonly maxAgeMs: () => number
  readonly clock: Clock
  readonly emit: (event: CacheEvent) => void
}

/** The entries in the memory of this process, with the invalidations since. */
export class HeldEntries {
  readonly memory: MemoryStore
  /** Read before an execution whose result can be stored. */
  readonly versions: VersionClock = createVersionClock()
  readonly #options: HeldEntriesOptions

  constructor(options: HeldEntriesOptions) {
    const { maxSize, maxBytes, clock, emit } = options
    const onEvict = (key: string): void => emit({ type: 'evicted', key })
    this.memory = createMemoryStore({ maxSize, maxBytes, clock, onEvict })
    this.#options = options
  }

  find(key: string): Lookup | undefined {
    const entry = this.memory.get(key)
    return entry && this.judge(key, entry, { version: this.versions.now(), remoteVersion: undefined })
  }

  /**
   * Checks an entry, and drops an invalidated entry. An expired entry is replaced by the next response or removed by
   * the memory store.
   */
  judge(key: string, entry: CacheEntry, ticket: Ticket): Lookup {
    const { clock, maxAgeMs } = this.#options
    const ageMs = clock.now() - entry.storedAt
    const state = ageMs < maxAgeMs() ? freshness(ageMs, entry) : 'miss'
    if (state === 'miss') return { state, ticket }
    if (this.versions.holds(entry.version, entry.tags)) return { state, entry, ticket }
    this.memory.delete(key)
    return { state: 'miss', ticket }
  }

  /** Stores a new entry. */
  keep(key: string, entry: CacheEntry): void {
    this.remember(key, entry)
    this.#options.emit({ type: 'stored', key })
  }

  /** Stores an entry from the shared store. */
  remember(key: string, entry: CacheEntry): void {
    if (this.#options.isMemoryUsed) this.memory.set(key, entry)
  }

  invalidate(tags: Tags): void {
    this.versions.invalidate(tags)
    if (tags === 'all') this.memory.clear()
    this.#options.emit({ type: 'invalidated', tags })
  }
}
