import type { Clock } from '@vinyasa/core'
import type { CacheEvent } from '../options.ts'
import type { CacheEntry, Lifetime } from './entry.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import { type Tags, typeOfTag } from './tags.ts'

/** Read before an execution; a result may be stored only while it still holds. */
export interface Ticket {
  readonly version: number
  /** The shared store's version. Absent: the store is not reachable, nothing is stored. */
  readonly remoteVersion: number | undefined
}

export type Lookup =
  | { readonly state: 'fresh' | 'stale'; readonly entry: CacheEntry; readonly ticket: Ticket }
  | { readonly state: 'miss'; readonly ticket: Ticket }
  /** The shared store is down: answer without a cache. */
  | { readonly state: 'unavailable' }

/** Specification: "Cached response entry". Ages and lifetimes in milliseconds. */
function freshness(ageMs: number, { ttlMs, staleMs }: Lifetime): 'fresh' | 'stale' | 'miss' {
  if (ageMs < ttlMs) return 'fresh'
  if (staleMs > 0 && ageMs <= ttlMs + staleMs) return 'stale'
  return 'miss'
}

/**
 * Counts invalidations and remembers when each tag was last invalidated. An entry carries the count
 * that stood before its execution began; it holds as long as none of its tags was invalidated since.
 * So a result computed from data that changed meanwhile is neither stored nor served, whatever the
 * order in which the two finish, and invalidating costs the same however many entries there are.
 */
interface VersionClock {
  now(): number
  holds(version: number, tags: readonly string[]): boolean
  /**
   * For a result that is not there yet, so that nobody knows its entities: whether nothing at all
   * of these types was invalidated since.
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
  /** By type, whatever part of it was hit. */
  const lastTouched = new Map<string, number>()

  /** Keeps the map bounded: forgetting one entity means that all of its type count as invalidated. */
  function fold() {
    for (const [tag, at] of lastInvalidated) {
      const type = typeOfTag(tag)
      if (type === tag) continue
      lastInvalidated.delete(tag)
      lastInvalidated.set(type, Math.max(at, lastInvalidated.get(type) ?? 0))
    }
  }

  /** All tags then count as invalidated now. */
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
  /** Most entries, and most bytes of all of them. */
  readonly maxSize: number
  readonly maxBytes: number
  /** False: each entry is read from the shared store, and only judged here. */
  readonly isMemoryUsed: boolean
  /** Milliseconds for which an entry is given out at most, however fresh it is. */
  readonly maxAgeMs: () => number
  readonly clock: Clock
  readonly emit: (event: CacheEvent) => void
}

/** The entries in this process's memory, and what has been invalidated since they were made. */
export class HeldEntries {
  readonly memory: MemoryStore
  /** To be read before an execution whose result may be kept. */
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

  /** Judges an entry, and drops one that was invalidated. The next response replaces an expired entry, or the memory store removes it. */
  judge(key: string, entry: CacheEntry, ticket: Ticket): Lookup {
    const { clock, maxAgeMs } = this.#options
    const ageMs = clock.now() - entry.storedAt
    const state = ageMs < maxAgeMs() ? freshness(ageMs, entry) : 'miss'
    if (state === 'miss') return { state, ticket }
    if (this.versions.holds(entry.version, entry.tags)) return { state, entry, ticket }
    this.memory.delete(key)
    return { state: 'miss', ticket }
  }

  /** Keeps an entry that is new. */
  keep(key: string, entry: CacheEntry): void {
    this.remember(key, entry)
    this.#options.emit({ type: 'stored', key })
  }

  /** Keeps an entry that the shared store had. */
  remember(key: string, entry: CacheEntry): void {
    if (this.#options.isMemoryUsed) this.memory.set(key, entry)
  }

  invalidate(tags: Tags): void {
    this.versions.invalidate(tags)
    if (tags === 'all') this.memory.clear()
    this.#options.emit({ type: 'invalidated', tags })
  }
}
