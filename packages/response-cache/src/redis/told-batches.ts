import { awake, type Clock } from '@vinyasa/core'
import type { BatchName } from '@vinyasa/invalidation'
import { LRUCache } from 'lru-cache'
import { hash } from 'node:crypto'
import type { Tags } from '../store/entry.ts'

/** Maximum number of remembered batches, and of remembered processes. */
const REMEMBERED = 1_000

type Told = (digest: string | undefined) => void

/**
 * Messages of other processes to the store, by batch of events. A process that executes a change sends it to the store.
 * Processes that receive the event from the bus wait for the store's message, so that they need not send the same
 * change again.
 */
export class ToldBatches {
  readonly #patienceMs: number
  readonly #clock: Clock
  readonly #told = new LRUCache<string, string>({ max: REMEMBERED })
  readonly #waiting = new Map<string, Set<Told>>()
  /** Processes whose last message did not arrive in time. They can have another store, or none. */
  readonly #silent = new LRUCache<string, true>({ max: REMEMBERED })

  constructor(patienceMs: number, clock: Clock) {
    this.#patienceMs = patienceMs
    this.#clock = clock
  }

  /** Records a message of the store. */
  hear(name: BatchName, tags: Tags): void {
    const digest = digestOf(tags)
    const key = keyOf(name)
    this.#silent.delete(name.origin)
    this.#told.set(key, digest)
    this.#tell(key, digest)
  }

  /** Returns whether the store received exactly these tags for the batch, or receives them within the waiting time. */
  async has(name: BatchName, tags: Tags): Promise<boolean> {
    const key = keyOf(name)
    const told = this.#told.get(key) ?? (this.#silent.has(name.origin) ? undefined : await this.#wait(key))
    if (told === undefined && !this.#told.has(key)) this.#silent.set(name.origin, true)
    return told === ALL || (told !== undefined && told === digestOf(tags))
  }

  /** Discards all messages, because messages of the store can now be lost. */
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
