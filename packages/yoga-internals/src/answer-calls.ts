/** Ends the calls that are made for one answer, together: it is given up, or whoever waits for it leaves. */
export class AnswerCalls {
  readonly #controller = new AbortController()
  #leaving: AbortSignal | undefined

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Ends them also when this one aborts, until it is let go. Whoever waits is the same for all of an answer's calls. */
  follow(leaving: AbortSignal): void {
    if (this.#leaving) return
    this.#leaving = leaving
    if (leaving.aborted) this.handleEvent()
    else leaving.addEventListener('abort', this, { once: true })
  }

  /** The client has left. */
  handleEvent(): void {
    this.#controller.abort(this.#leaving?.reason)
  }

  giveUp(): void {
    this.#controller.abort()
  }

  /** A request may live for hours after one of its answers. */
  letGo(): void {
    this.#leaving?.removeEventListener('abort', this)
  }
}
