import type { Clock } from '@vinyasa/base'
import type { CacheEvent } from '../options.ts'
import type { CacheEntry } from './entry.ts'
import { freshness } from './freshness.ts'
import type { Lookup, Ticket } from './lookup.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import type { Tags } from './tags.ts'
import { createVersionClock, type VersionClock } from './version-clock.ts'

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

  /** Judges an entry, and drops one that was invalidated. The next answer replaces one that expired, or the store's sweep removes it. */
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
