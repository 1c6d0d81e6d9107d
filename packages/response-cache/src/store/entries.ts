import { type Clock, createExpiry } from '@vinyasa/core'
import type { BatchName, InvalidationBus } from '@vinyasa/invalidation'
import { LRUCache } from 'lru-cache'
import type { CacheEvent } from '../options.ts'
import {
  bytesOf,
  type CacheEntry,
  LazyEntry,
  type Lifetime,
  type RemoteEvent,
  type RemoteStore,
  type Tags,
  typeOfTag,
} from './entry.ts'

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

type Clocks = Pick<Clock, 'now' | 'wallNow'>

/** Maximum difference between the clocks of two machines. */
const DIFFERENCE_MS = 1_000

/**
 * Returns when an entry of a shared store was stored, on this process's clock. An entry from the future counts as old,
 * because a clock was set back by an unknown time.
 */
export function storedAtHere(clock: Clocks, wallStoredAt: number): number {
  const ageMs = clock.wallNow() - wallStoredAt
  return ageMs < -DIFFERENCE_MS ? -Infinity : clock.now() - Math.max(0, ageMs)
}

/** Returns the entry with wall-clock times for a shared store. */
export function withWallTime(clock: Clocks, entry: CacheEntry): CacheEntry {
  const { body, ttlMs, staleMs, tags, version } = entry
  const storedAt = clock.wallNow() - (clock.now() - entry.storedAt)
  return new LazyEntry(body, { ttlMs, staleMs, tags, version, storedAt })
}

interface EntriesOptions {
  /** Maximum number of entries in memory, and of their bytes. */
  readonly maxSize: number
  readonly maxBytes: number
  /** The store that other processes share. If it fails, requests continue without the cache. */
  readonly store: RemoteStore | undefined
  readonly bus: InvalidationBus | undefined
  readonly clock: Clock
  readonly emit: (event: CacheEvent) => void
}

/** The entries in the memory of this process and in the shared store, with the invalidations since. */
export class Entries {
  readonly memory: MemoryStore
  readonly #versions = createVersionClock()
  readonly #options: EntriesOptions
  /** If false, every entry is read from the shared store, because the store sends no invalidations. */
  readonly #isMemoryUsed: boolean
  readonly #leaveStore: (() => void) | undefined
  /** Whether invalidations of other processes arrive in time. */
  #isUp = true

  constructor(options: EntriesOptions) {
    const { maxSize, maxBytes, store, clock, emit } = options
    const onEvict = (key: string): void => emit({ type: 'evicted', key })
    this.memory = createMemoryStore({ maxSize, maxBytes, clock, onEvict })
    this.#options = options
    this.#isMemoryUsed = !store || store.subscribe !== undefined
    // The listener is called immediately if the store is unreachable.
    this.#leaveStore = store?.subscribe?.((event) => this.#hear(event))
  }

  get isShared(): boolean {
    return this.#options.store !== undefined
  }

  /** Looks up a key in memory only, so that it can run before everything else. */
  peek(key: string): Lookup | undefined {
    return this.#isInTouch() ? this.#find(key) : undefined
  }

  lookup(key: string): Lookup | Promise<Lookup> {
    const { store } = this.#options
    const version = this.#versions.now()
    if (!this.#isInTouch()) return { state: 'unavailable' }
    const found = this.#find(key)
    // A stale entry is refreshed, and storing it needs the version of the shared store.
    if (found?.state === 'fresh') return found
    if (store) return this.#findShared(store, key, version)
    return found ?? { state: 'miss', ticket: { version, remoteVersion: undefined } }
  }

  /** Returns whether the result of an execution that began at `version` is valid for new requests. */
  isUntouched(version: number, types: readonly string[]): boolean {
    return this.#versions.isUntouched(version, types)
  }

  /** Stores the entry if it is still valid. Returns a promise only with a shared store. */
  store(key: string, entry: CacheEntry, ticket: Ticket): Promise<void> | undefined {
    const { store } = this.#options
    if (!this.memory.takes(entry) || !this.#versions.holds(ticket.version, entry.tags)) return undefined
    if (store) return this.#share(store, key, entry, ticket)
    this.#keep(key, entry)
    return undefined
  }

  async invalidate(tags: Tags, name?: BatchName): Promise<void> {
    const { store } = this.#options
    this.#forget(tags)
    if (!store) return
    await this.#attempt(() => store.invalidate(tags, name))
    // A concurrent read of the store can have put an outdated entry back into memory.
    this.#versions.invalidate(tags)
  }

  async delete(key: string): Promise<void> {
    this.memory.delete(key)
    await this.#options.store?.delete(key)
  }

  async close(): Promise<void> {
    this.#leaveStore?.()
    this.memory.clear()
    await this.#options.store?.close()
  }

  /** Whether invalidations arrive in time. Otherwise, stored entries are not served. */
  #isInTouch(): boolean {
    return this.#isUp && this.#options.bus?.isInTouch !== false
  }

  #find(key: string): Lookup | undefined {
    const entry = this.memory.get(key)
    return entry && this.#judge(key, entry, { version: this.#versions.now(), remoteVersion: undefined })
  }

  /** Looks up an entry in the shared store. `version` is the version of the memory, read earlier. */
  async #findShared(store: RemoteStore, key: string, version: number): Promise<Lookup> {
    const read = await this.#attempt(() => store.read(key))
    if (!read) return { state: 'unavailable' }
    const ticket: Ticket = { version, remoteVersion: read.version }
    if (!read.entry) return { state: 'miss', ticket }
    const storedAt = storedAtHere(this.#options.clock, read.entry.storedAt)
    const entry = { ...read.entry, storedAt, version: Math.min(read.entry.version, version) }
    const found = this.#judge(key, entry, ticket)
    if (found.state === 'fresh') this.#remember(key, found.entry)
    return found
  }

  /**
   * Checks an entry, and drops an invalidated entry. An expired entry is replaced by the next response or removed by
   * the memory store.
   */
  #judge(key: string, entry: CacheEntry, ticket: Ticket): Lookup {
    const { clock, bus } = this.#options
    const ageMs = clock.now() - entry.storedAt
    const state = ageMs < (bus?.maxAgeMs ?? Infinity) ? freshness(ageMs, entry) : 'miss'
    if (state === 'miss') return { state, ticket }
    if (this.#versions.holds(entry.version, entry.tags)) return { state, entry, ticket }
    this.memory.delete(key)
    return { state: 'miss', ticket }
  }

  async #share(
    store: RemoteStore,
    key: string,
    entry: CacheEntry,
    { version, remoteVersion }: Ticket,
  ): Promise<void> {
    if (remoteVersion === undefined) return
    if (!(await store.write(key, withWallTime(this.#options.clock, entry), remoteVersion))) return
    if (this.#versions.holds(version, entry.tags)) this.#keep(key, entry)
    // A store without versions can have accepted the write after the invalidation.
    else await store.delete(key)
  }

  #keep(key: string, entry: CacheEntry): void {
    this.#remember(key, entry)
    this.#options.emit({ type: 'stored', key })
  }

  #remember(key: string, entry: CacheEntry): void {
    if (this.#isMemoryUsed) this.memory.set(key, entry)
  }

  #forget(tags: Tags): void {
    this.#versions.invalidate(tags)
    if (tags === 'all') this.memory.clear()
    this.#options.emit({ type: 'invalidated', tags })
  }

  #hear(event: RemoteEvent): void {
    if (event.type === 'invalidated') return this.#forget(event.tags)
    this.#isUp = event.type === 'up'
    if (event.type === 'down' && event.error !== undefined)
      this.#options.emit({ type: 'error', error: event.error })
    this.#forget('all')
  }

  async #attempt<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      this.#options.emit({ type: 'error', error })
      return undefined
    }
  }
}

/** The entries of this process. The least recently used entries are evicted first. */
interface MemoryStore {
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

interface MemoryStoreOptions {
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
