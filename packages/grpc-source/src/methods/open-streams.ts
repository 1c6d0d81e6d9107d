const END: IteratorResult<unknown> = { done: true, value: undefined }

/** Streams of replies that have not ended. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>()

  /** Gives the replies on until they end, or until all are ended here: their readers see an ordinary end then. */
  add(replies: AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
    const stream = new OpenStream(replies, () => this.#open.delete(stream))
    this.#open.add(stream)
    return stream
  }

  /** Ends all, and cancels their calls. */
  close(): void {
    for (const stream of this.#open) void stream.return().catch(() => {})
  }
}

class OpenStream implements AsyncIterableIterator<unknown> {
  readonly #replies: AsyncIterableIterator<unknown>
  readonly #onEnd: () => void
  #hasEnded = false
  #wake: (result: IteratorResult<unknown>) => void = () => {}

  constructor(replies: AsyncIterableIterator<unknown>, onEnd: () => void) {
    this.#replies = replies
    this.#onEnd = onEnd
  }

  next(): Promise<IteratorResult<unknown>> {
    if (this.#hasEnded) return Promise.resolve(END)
    return new Promise((resolve, reject) => {
      this.#wake = resolve
      void this.#pull(resolve, reject)
    })
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#end()
    return (await this.#replies.return?.()) ?? END
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #pull(
    resolve: (result: IteratorResult<unknown>) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    try {
      const result = await this.#replies.next()
      resolve(result)
      if (result.done) this.#end()
    } catch (error) {
      reject(error)
      this.#end()
    }
  }

  #end(): void {
    this.#hasEnded = true
    this.#onEnd()
    this.#wake(END)
  }
}
