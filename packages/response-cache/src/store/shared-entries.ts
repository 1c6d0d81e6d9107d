import type { Clock } from '@vinyasa/base'
import type { CacheEvent } from '../options.ts'
import type { CacheEntry } from './entry.ts'
import type { HeldEntries } from './held-entries.ts'
import type { Lookup, Ticket } from './lookup.ts'
import type { RemoteEvent, RemoteStore } from './remote-store.ts'
import { storedAtHere, withWallTime } from './stored-at.ts'
import type { Tags } from './tags.ts'

export interface SharedEntriesOptions {
  readonly store: RemoteStore
  /** The entries in front of the store. */
  readonly held: HeldEntries
  readonly clock: Pick<Clock, 'now' | 'wallNow'>
  readonly emit: (event: CacheEvent) => void
}

/** The entries of a store that processes share. A store that fails costs the cache, never the request. */
export class SharedEntries {
  readonly #store: RemoteStore
  readonly #held: HeldEntries
  readonly #clock: Pick<Clock, 'now' | 'wallNow'>
  readonly #emit: (event: CacheEvent) => void
  readonly #leave: (() => void) | undefined
  #isUp = true

  constructor({ store, held, clock, emit }: SharedEntriesOptions) {
    this.#store = store
    this.#held = held
    this.#clock = clock
    this.#emit = emit
    // It tells at once when the store is not reachable yet.
    this.#leave = store.subscribe?.((event) => this.#hear(event))
  }

  /** Whether invalidations of other processes are heard of in time. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** `version`: that of the entries held, read before. */
  async find(key: string, version: number): Promise<Lookup> {
    const read = await this.#attempt(() => this.#store.read(key))
    if (!read) return { state: 'unavailable' }
    const ticket: Ticket = { version, remoteVersion: read.version }
    if (!read.entry) return { state: 'miss', ticket }
    const storedAt = storedAtHere(this.#clock, read.entry.storedAt)
    const entry = { ...read.entry, storedAt, version: Math.min(read.entry.version, version) }
    const found = this.#held.judge(key, entry, ticket)
    if (found.state === 'fresh') this.#held.remember(key, found.entry)
    return found
  }

  async keep(key: string, entry: CacheEntry, { version, remoteVersion }: Ticket): Promise<void> {
    if (remoteVersion === undefined) return
    const isStored = await this.#store.write(key, withWallTime(this.#clock, entry), remoteVersion)
    if (!isStored) return
    if (this.#held.holds(version, entry.tags)) this.#held.keep(key, entry)
    // A store without versions of its own may have taken the write after the invalidation.
    else await this.#store.delete(key)
  }

  /** To be called when those held are invalidated already. */
  async invalidate(tags: Tags): Promise<void> {
    await this.#attempt(() => this.#store.invalidate(tags))
    // Whoever read the store between the two has brought an outdated entry back into memory.
    this.#held.outdate(tags)
  }

  delete(key: string): Promise<void> {
    return this.#store.delete(key)
  }

  changing(): Promise<() => void> | undefined {
    return this.#store.changing?.()
  }

  /** Hears of nothing any more. */
  leave(): void {
    this.#leave?.()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #hear(event: RemoteEvent): void {
    if (event.type === 'invalidated') {
      this.#held.invalidate(event.tags)
      return
    }
    this.#isUp = event.type === 'up'
    if (event.type === 'down' && event.error !== undefined) this.#emit({ type: 'error', error: event.error })
    this.#held.invalidate('all')
  }

  async #attempt<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      this.#emit({ type: 'error', error })
      return undefined
    }
  }
}
