import { isAsyncIterable } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'

export interface OpenSubscriptions {
  readonly plugin: Plugin
  /** Ends every subscription, and those that begin from now on, as if no more came: clients are told `complete`. */
  complete(): void
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** The subscriptions that one gateway is sending, whatever they came by. */
export function createOpenSubscriptions(): OpenSubscriptions {
  const open = new Set<Endable>()
  let isOver = false
  return {
    plugin: {
      onSubscribe: () => ({
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) return
          const events = new Endable(result[Symbol.asyncIterator](), () => open.delete(events))
          open.add(events)
          if (isOver) events.complete()
          setResult(events as never)
        },
      }),
    },
    complete() {
      isOver = true
      for (const events of open) events.complete()
    },
  }
}

/** Events that can be ended from outside while the next one is waited for. */
class Endable implements AsyncGenerator<unknown, unknown, undefined> {
  readonly #events: AsyncIterator<unknown>
  readonly #onEnd: () => void
  #settle: ((step: IteratorResult<unknown>) => void) | undefined
  #isOver = false

  constructor(events: AsyncIterator<unknown>, onEnd: () => void) {
    this.#events = events
    this.#onEnd = onEnd
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<unknown>> {
    if (this.#isOver) return Promise.resolve(DONE)
    return new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#take().then(resolve, reject)
    })
  }

  async #take(): Promise<IteratorResult<unknown>> {
    try {
      const step = await this.#events.next()
      if (step.done === true) this.#end()
      return step
    } catch (error) {
      this.#end()
      throw error
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    if (this.#isOver) return DONE
    this.#end()
    return (await this.#events.return?.()) ?? DONE
  }

  async throw(error: unknown): Promise<IteratorResult<unknown>> {
    this.#end()
    if (!this.#events.throw) throw error
    return this.#events.throw(error)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  complete(): void {
    // Nobody waits for how its source ends any more.
    this.return().catch(() => {})
  }

  #end(): void {
    this.#isOver = true
    this.#onEnd()
    this.#settle?.(DONE)
  }
}
