import type { Clock } from '@vinyasa/core'
import type { BatchName } from '@vinyasa/invalidation'
import type { CacheEvent } from '../options.ts'
import { type CacheEntry, LazyEntry } from './entry.ts'
import type { HeldEntries, Lookup, Ticket } from './held-entries.ts'
import type { RemoteEvent, RemoteStore } from './remote-store.ts'
import type { Tags } from './tags.ts'

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

export interface SharedEntriesOptions {
  readonly store: RemoteStore
  /** The entries in front of the store. */
  readonly held: HeldEntries
  readonly clock: Clocks
  readonly emit: (event: CacheEvent) => void
}

/** The entries of a store that processes share. A store that fails costs the cache, never the request. */
export class SharedEntries {
  readonly #options: SharedEntriesOptions
  /** Hears of nothing any more. */
  readonly leave: (() => void) | undefined
  /** Whether invalidations of other processes are heard of in time. */
  isUp = true

  constructor(options: SharedEntriesOptions) {
    this.#options = options
    // It tells at once when the store is not reachable yet.
    this.leave = options.store.subscribe?.((event) => this.#hear(event))
  }

  /** `version`: that of the entries held, read before. */
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
    // A store without versions of its own may have taken the write after the invalidation.
    else await store.delete(key)
  }

  /** To be called when those held are invalidated already. */
  async invalidate(tags: Tags, name?: BatchName): Promise<void> {
    const { store, held } = this.#options
    await this.#attempt(() => store.invalidate(tags, name))
    // Whoever read the store between the two has brought an outdated entry back into memory.
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
