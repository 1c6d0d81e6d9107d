import { announced, type InitialPart, type Part } from '../parts.ts'
import { inLaterTurn } from '../turn.ts'
import type { DeliveryRecord } from './delivery-record.ts'
import { PendingRecords } from './pending-records.ts'

export interface PartStreamOptions {
  readonly root: DeliveryRecord
  /** The consumer asks for the second part, so it has the first. */
  readonly onFirstTaken: () => void
  readonly onDrop: (record: DeliveryRecord) => void
  readonly onEnd: () => void
}

type Read = IteratorResult<Part, undefined>

/** The parts of one response in the order in which they may be sent: a fragment after the one that holds it. */
export class PartStream implements AsyncIterableIterator<Part, undefined> {
  readonly #options: PartStreamOptions
  readonly #pending: PendingRecords
  #initial: InitialPart | undefined
  #consumer: ((result: Read) => void) | undefined
  #unschedule: (() => void) | undefined
  #isEnded = false

  constructor(options: PartStreamOptions) {
    this.#options = options
    this.#pending = new PendingRecords(options.root, options.onDrop)
  }

  /** The first part; undefined when nothing of what was deferred is left to send. */
  begin(): InitialPart | undefined {
    const pending = this.#pending.begin()
    if (pending.length === 0) return undefined
    const { data, errors } = this.#options.root
    this.#initial = {
      data,
      ...(errors.length > 0 && { errors }),
      hasNext: true,
      [announced]: pending,
    }
    return this.#initial
  }

  /** Whether the first part holds errors. */
  hasErrors(): boolean {
    return this.#options.root.errors.length > 0
  }

  /** A record is done or dropped. What is done in the same turn of the event loop goes into one part. */
  settled(): void {
    if (this.#unschedule || this.#isEnded || !this.#consumer) return
    this.#unschedule = inLaterTurn(() => this.#flush())
  }

  /** Nothing else is to come: what is done goes out now. */
  allSettled(): void {
    this.#unschedule?.()
    this.#flush()
  }

  /** Ends the stream without another part. */
  end(): void {
    this.#finish()
    this.#deliver({ done: true, value: undefined })
  }

  next(): Promise<Read> {
    const value = this.#initial
    if (value) {
      this.#initial = undefined
      return Promise.resolve({ done: false, value })
    }
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    this.#options.onFirstTaken()
    return new Promise((resolve) => {
      this.#consumer = resolve
      this.settled()
    })
  }

  return(): Promise<Read> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  throw(error: unknown): Promise<Read> {
    this.end()
    return Promise.reject(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #flush(): void {
    this.#unschedule = undefined
    const part = this.#consumer && this.#pending.takePart()
    if (!part) return
    if (!part.hasNext) this.#finish()
    this.#deliver({ done: false, value: part })
  }

  #deliver(result: Read): void {
    const waiting = this.#consumer
    this.#consumer = undefined
    waiting?.(result)
  }

  #finish(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#pending.clear()
    this.#options.onEnd()
  }
}
