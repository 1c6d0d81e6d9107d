/** Questions that wait for an answer, each for a bounded time. */
export class Answers {
  readonly #waiting = new Map<number, (isAnswered: boolean) => void>()
  readonly #boundMs: number
  #id = 0

  constructor(boundMs: number) {
    this.#boundMs = boundMs
  }

  /** Whether `ask` was answered in time. */
  wait(ask: (id: number) => void): Promise<boolean> {
    const id = ++this.#id
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(id, false), this.#boundMs)
      this.#waiting.set(id, (isAnswered) => {
        clearTimeout(timer)
        resolve(isAnswered)
      })
      ask(id)
    })
  }

  answer(id: number): void {
    this.#settle(id, true)
  }

  /** Nobody answers any more. */
  close(): void {
    for (const id of this.#waiting.keys()) this.#settle(id, true)
  }

  #settle(id: number, isAnswered: boolean): void {
    const settle = this.#waiting.get(id)
    this.#waiting.delete(id)
    settle?.(isAnswered)
  }
}
