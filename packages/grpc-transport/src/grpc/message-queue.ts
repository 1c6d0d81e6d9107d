import type { GrpcCallError } from '../status.ts'
import type { CallReceiver } from './call.ts'
import type { Message } from './frames.ts'

export interface MessageQueueOptions {
  /** The message without its compression. */
  plain(message: Message): Promise<Uint8Array>
  /** Stops reading from the socket. */
  pause(): void
  resume(): void
  /** Ends the call, for the reader left, or for a message that cannot be read. */
  cancel(error?: GrpcCallError): void
}

interface Waiter {
  resolve(result: IteratorResult<Uint8Array> | Promise<IteratorResult<Uint8Array>>): void
  reject(error: unknown): void
}

/** Unread bytes from which on nothing more is read from the socket. */
const ENOUGH_BYTES = 64 * 1024
/** Bytes that a message counts beyond its own: empty ones must not pile up either. */
const MESSAGE_BYTES = 64
const DONE = { done: true, value: undefined } as const

/** The messages of a stream for a reader that pulls them. `return()` cancels at once, even while a `next()` waits. */
export class MessageQueue implements CallReceiver, AsyncIterableIterator<Uint8Array> {
  readonly #options: MessageQueueOptions
  readonly #unread: Message[] = []
  readonly #waiters: Waiter[] = []
  #unreadBytes = 0
  #isPaused = false
  #hasEnded = false
  /** Thrown once, after the last message. */
  #error: GrpcCallError | undefined

  constructor(options: MessageQueueOptions) {
    this.#options = options
  }

  message(message: Message): void {
    const waiter = this.#waiters.shift()
    if (waiter) return waiter.resolve(this.#read(message))
    this.#unread.push(message)
    this.#unreadBytes += message.bytes.length + MESSAGE_BYTES
    if (this.#unreadBytes < ENOUGH_BYTES || this.#isPaused) return
    this.#isPaused = true
    this.#options.pause()
  }

  end(error: GrpcCallError | undefined): void {
    this.#hasEnded = true
    const [first, ...others] = this.#waiters.splice(0)
    if (first && error) first.reject(error)
    else {
      this.#error = error
      first?.resolve(DONE)
    }
    for (const waiter of others) waiter.resolve(DONE)
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const message = this.#unread.shift()
    if (message) {
      this.#unreadBytes -= message.bytes.length + MESSAGE_BYTES
      if (this.#unread.length === 0 && this.#isPaused) {
        this.#isPaused = false
        this.#options.resume()
      }
      return this.#read(message)
    }
    if (!this.#hasEnded) return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
    const error = this.#error
    this.#error = undefined
    return error ? Promise.reject(error) : Promise.resolve(DONE)
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#unread.length = 0
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(DONE)
    this.#options.cancel()
    this.#error = undefined
    return Promise.resolve(DONE)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #read(message: Message): Promise<IteratorResult<Uint8Array>> {
    try {
      return { done: false, value: await this.#options.plain(message) }
    } catch (error) {
      this.#unread.length = 0
      this.#options.cancel(error as GrpcCallError)
      this.#error = undefined
      throw error
    }
  }
}
