const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Tracks open streams, so that they can all be ended. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>()
  #isClosed = false

  /** Adds a stream. The returned stream ends with its source, or normally when `close` is called. */
  add(stream: AsyncIterator<unknown>): AsyncGenerator<unknown, unknown, undefined> {
    const open = new OpenStream(stream, () => this.#open.delete(open))
    this.#open.add(open)
    if (this.#isClosed) open.end()
    return open
  }

  /** Ends all streams and their sources, including streams that are added later. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#open) stream.end()
  }
}

/** Stream that other code can end while its next values are pending. */
class OpenStream implements AsyncGenerator<unknown, unknown, undefined> {
  readonly #source: AsyncIterator<unknown>
  readonly #onEnd: () => void
  readonly #waiting = new Set<(step: IteratorResult<unknown>) => void>()
  #hasEnded = false

  constructor(source: AsyncIterator<unknown>, onEnd: () => void) {
    this.#source = source
    this.#onEnd = onEnd
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<unknown>> {
    if (this.#hasEnded) return Promise.resolve(END)
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve)
      this.#take(resolve).catch(reject)
    })
  }

  async #take(resolve: (step: IteratorResult<unknown>) => void): Promise<void> {
    let step: IteratorResult<unknown> | undefined
    try {
      step = await this.#source.next()
      resolve(step)
    } finally {
      this.#waiting.delete(resolve)
      if (!step || step.done === true) this.#end()
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    if (this.#hasEnded) return END
    this.#end()
    return (await this.#source.return?.()) ?? END
  }

  async throw(error: unknown): Promise<IteratorResult<unknown>> {
    await this.return()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  end(): void {
    // Errors of the source are ignored, because all pending calls have already received the end of the stream.
    this.return().catch(() => {})
  }

  #end(): void {
    this.#hasEnded = true
    this.#onEnd()
    for (const end of this.#waiting) end(END)
    this.#waiting.clear()
  }
}
