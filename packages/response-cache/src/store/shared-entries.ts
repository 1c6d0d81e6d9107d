import type { Clock } from '@vinyasa/core'
import type { BatchName } from '@vinyasa/invalidation'
import type { CacheEvent } from '../options.ts'
import { type CacheEntry, LazyEntry } from './entry.ts'
import type { HeldEntries, Lookup, Ticket } from './held-entries.ts'
import type { RemoteEvent, RemoteStore } from './remote-store.ts'
import type { Tags } from './tags.ts'

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

export interface SharedEntriesOptions {
  readonly store: RemoteStore
  /** The entries in memory. */
  readonly held: HeldEntries
  readonly clock: Clocks
  readonly emit: (event: CacheEvent) => void
}

/** The entries of a shared store. If the store fails, requests continue without the cache. */
export class SharedEntries {
  readonly #options: SharedEntriesOptions
  /** Ends the subscription. */
  readonly leave: (() => void) | undefined
  /** Whether invalidations of other processes arrive in time. */
  isUp = true

  constructor(options: SharedEntriesOptions) {
    this.#options = options
    // The listener is called immediately if the store is unreachable.
    this.leave = options.store.subscribe?.((event) => this.#hear(event))
  }

  /** Looks up an entry. `version` is the version of the memory, read earlier. */
  async find(key: string, version: number): Promise<Lookup> {
    const { store, held, clock } = this.#options
    const read = await this.#attempt(() => store.read(key))
    if (!read) return { state: 'unavailable' }
    const ticket: Ticket = { version, remoteVersion: read.version }
    if (!read.entry) return { state: 'miss', ticket }
    const storedAt = storedAtHere(clock, read.entry.storedAt)
    const entry = { ...read.entry, storedAt, version: Math.min(read.entry.version, version) }
    const found = held.judge(key, entry, ticket)
    if (found.state === 'fresh') held.remember(key, found.entry)
    return found
  }

  async keep(key: string, entry: CacheEntry, { version, remoteVersion }: Ticket): Promise<void> {
    if (remoteVersion === undefined) return
    const { store, held, clock } = this.#options
    const isStored = await store.write(key, withWallTime(clock, entry), remoteVersion)
    if (!isStored) return
    if (held.versions.holds(version, entry.tags)) held.keep(key, entry)
    // A store without versions can have accepted the write after the invalidation.
    else await store.delete(key)
  }

  /** Must be called after the entries in memory are invalidated. */
  async invalidate(tags: Tags, name?: BatchName): Promise<void> {
    const { store, held } = this.#options
    await this.#attempt(() => store.invalidate(tags, name))
    // A concurrent read of the store can have put an outdated entry back into memory.
    held.versions.invalidate(tags)
  }

  #hear(event: RemoteEvent): void {
    const { held, emit } = this.#options
    if (event.type === 'invalidated') return held.invalidate(event.tags)
    this.isUp = event.type === 'up'
    if (event.type === 'down' && event.error !== undefined) emit({ type: 'error', error: event.error })
    held.invalidate('all')
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
