import type { ExecutionResult } from 'graphql'
import type { Turns } from '@vinyasa/base'
import { writeResult } from '../store/write-result.ts'
import type { ReadSocket } from './read-socket.ts'
import type { ResultStream } from './streams.ts'

const DONE: IteratorResult<ExecutionResult> = { done: true, value: undefined }

export interface SentResultsOptions {
  readonly id: string
  readonly results: ResultStream
  readonly socket: ReadSocket
  /** Shared by all that is written in slices. */
  readonly slices: Turns
  /** The operation is over, whatever of it is yet to come. */
  readonly signal: AbortSignal
}

/**
 * The results of an operation as graphql-ws sees them: none, and then their end. Their frames go to the socket from here, one
 * after another, each once the one before has left; long ones are written in several turns of the event loop.
 */
export class SentResults implements AsyncIterableIterator<ExecutionResult> {
  readonly #options: SentResultsOptions
  readonly #results: AsyncIterator<ExecutionResult>
  #settle: ((step: IteratorResult<ExecutionResult>) => void) | undefined
  #isOver = false

  constructor(options: SentResultsOptions) {
    this.#options = options
    this.#results = options.results[Symbol.asyncIterator]()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#isOver) return Promise.resolve(DONE)
    return new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#sendAll().then(() => resolve(DONE), reject)
    })
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    this.#isOver = true
    this.#settle?.(DONE)
    await this.#results.return?.()
    return DONE
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const step = await this.#results.next()
      if (step.done === true || this.#hasEnded()) return
      try {
        await this.#send(step.value)
      } catch (error) {
        // Nobody reads on: the source ends too, whatever it says to that.
        void this.#results.return?.().catch(() => {})
        throw error
      }
    }
  }

  #hasEnded(): boolean {
    return this.#isOver || this.#options.signal.aborted
  }

  async #send(result: ExecutionResult): Promise<void> {
    const { id, socket } = this.#options
    const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
    const written = writeResult(result, this.#options.slices, this.#goOn)
    const payload = written instanceof Promise ? await written.catch(this.#unlessEnded) : written
    if (payload === undefined || this.#hasEnded()) return
    await new Promise<void>((resolve) => {
      if (typeof payload === 'string') socket.send(`${head}${payload}}`, undefined, resolve)
      else socket.send(head, Buffer.concat([payload, Buffer.from('}')]), resolve)
    })
  }

  readonly #goOn = (): void => {
    if (this.#hasEnded()) throw new Error('Nobody waits for it.')
  }

  readonly #unlessEnded = (error: unknown): undefined => {
    if (!this.#hasEnded()) throw error
  }
}
