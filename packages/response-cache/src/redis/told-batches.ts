import { awake, type Clock } from '@vinyasa/core'
import type { BatchName } from '@vinyasa/invalidation'
import { LRUCache } from 'lru-cache'
import { hash } from 'node:crypto'
import type { Tags } from '../store/tags.ts'

/** Maximum number of remembered batches, and of remembered processes. */
const REMEMBERED = 1_000

type Told = (digest: string | undefined) => void

/**
 * What other processes have told the store, by the batch of events that it was for. Whoever changes something tells the store;
 * who hears of it by the bus waits for the store's own word of that, in place of telling it the same once more.
 */
export class ToldBatches {
  readonly #patienceMs: number
  readonly #clock: Clock
  readonly #told = new LRUCache<string, string>({ max: REMEMBERED })
  readonly #waiting = new Map<string, Set<Told>>()
  /** Processes that did not tell the store of their last batch in time: it may be another store that they have, or none. */
  readonly #silent = new LRUCache<string, true>({ max: REMEMBERED })

  constructor(patienceMs: number, clock: Clock) {
    this.#patienceMs = patienceMs
    this.#clock = clock
  }

  /** The store says that it was told. */
  hear(name: BatchName, tags: Tags): void {
    const digest = digestOf(tags)
    const key = keyOf(name)
    this.#silent.delete(name.origin)
    this.#told.set(key, digest)
    this.#tell(key, digest)
  }

  /** Whether the store was told of these very tags for the batch, or is within the patience. */
  async has(name: BatchName, tags: Tags): Promise<boolean> {
    const key = keyOf(name)
    const told = this.#told.get(key) ?? (this.#silent.has(name.origin) ? undefined : await this.#wait(key))
    if (told === undefined && !this.#told.has(key)) this.#silent.set(name.origin, true)
    return told === ALL || (told !== undefined && told === digestOf(tags))
  }

  /** What the store says may go unheard: nobody waits for it, and what was heard counts no more. */
  forget(): void {
    this.#told.clear()
    for (const key of this.#waiting.keys()) this.#tell(key, undefined)
  }

  #tell(key: string, digest: string | undefined): void {
    const waiting = this.#waiting.get(key)
    this.#waiting.delete(key)
    for (const told of waiting ?? []) told(digest)
  }

  #wait(key: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set()
      this.#waiting.set(key, waiting)
      const leavePatience = awake(this.#clock, this.#patienceMs, () => this.#tell(key, undefined))
      waiting.add((digest) => {
        leavePatience()
        resolve(digest)
      })
    })
  }
}

const ALL = 'all'

const keyOf = ({ origin, n }: BatchName): string => `${n} ${origin}`

function digestOf(tags: Tags): string {
  return tags === 'all' ? ALL : hash('sha256', JSON.stringify(tags), 'base64url')
}
