import type { Clock } from '@vinyasa/base'
import type { CacheEvent } from '../options.ts'
import type { CacheEntry } from './entry.ts'
import { freshness } from './freshness.ts'
import type { Lookup, Ticket } from './lookup.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import type { Tags } from './tags.ts'
import { createVersionClock } from './version-clock.ts'

export interface HeldEntriesOptions {
  /** Most entries, and most bytes of all of them. */
  readonly maxSize: number
  readonly maxBytes: number
  /** False: each entry is read from the shared store, and only judged here. */
  readonly isMemoryUsed: boolean
  /** Milliseconds for which an entry is given out at most, however fresh it is. */
  readonly maxAgeMs: () => number
  readonly clock: Pick<Clock, 'now'>
  readonly emit: (event: CacheEvent) => void
}

/** The entries in this process's memory, and what has been invalidated since they were made. */
export class HeldEntries {
  readonly #memory: MemoryStore
  readonly #versions = createVersionClock()
  readonly #isMemoryUsed: boolean
  readonly #maxAgeMs: () => number
  readonly #clock: Pick<Clock, 'now'>
  readonly #emit: (event: CacheEvent) => void

  constructor({ maxSize, maxBytes, isMemoryUsed, maxAgeMs, clock, emit }: HeldEntriesOptions) {
    const onEvict = (key: string): void => emit({ type: 'evicted', key })
    this.#memory = createMemoryStore({ maxSize, maxBytes, clock, onEvict })
    this.#isMemoryUsed = isMemoryUsed
    this.#maxAgeMs = maxAgeMs
    this.#clock = clock
    this.#emit = emit
  }

  /** How many there are, and the bytes that they take. */
  count(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#memory.size, bytes: this.#memory.bytes }
  }

  /** To be read before an execution whose result may be kept. */
  get version(): number {
    return this.#versions.now()
  }

  find(key: string): Lookup | undefined {
    const entry = this.#memory.get(key)
    return entry && this.judge(key, entry, { version: this.version, remoteVersion: undefined })
  }

  /** Judges an entry; one that expired or does not hold is dropped. */
  judge(key: string, entry: CacheEntry, ticket: Ticket): Lookup {
    const ageMs = this.#clock.now() - entry.storedAt
    const state = ageMs < this.#maxAgeMs() ? freshness(ageMs, entry) : 'miss'
    if (state !== 'miss' && this.holds(entry.version, entry.tags)) return { state, entry, ticket }
    this.#memory.delete(key)
    return { state: 'miss', ticket }
  }

  /** Whether nothing of these tags was invalidated since. */
  holds(version: number, tags: readonly string[]): boolean {
    return this.#versions.holds(version, tags)
  }

  /** See `VersionClock.isUntouched`. */
  isUntouched(version: number, types: readonly string[]): boolean {
    return this.#versions.isUntouched(version, types)
  }

  /** Whether an entry is small enough to be kept. */
  takes(entry: CacheEntry): boolean {
    return this.#memory.takes(entry)
  }

  /** Keeps an entry that is new. */
  keep(key: string, entry: CacheEntry): void {
    this.remember(key, entry)
    this.#emit({ type: 'stored', key })
  }

  /** Keeps an entry that the shared store had. */
  remember(key: string, entry: CacheEntry): void {
    if (this.#isMemoryUsed) this.#memory.set(key, entry)
  }

  invalidate(tags: Tags): void {
    this.outdate(tags)
    if (tags === 'all') this.clear()
    this.#emit({ type: 'invalidated', tags })
  }

  /** Invalidates without a word: it was told already. */
  outdate(tags: Tags): void {
    this.#versions.invalidate(tags)
  }

  delete(key: string): void {
    this.#memory.delete(key)
  }

  clear(): void {
    this.#memory.clear()
  }
}
