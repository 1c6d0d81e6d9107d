import type { Clock } from '@vinyasa/core'

/** Questions that wait for an answer. */
export class Answers {
  readonly #waiting = new Map<number, (isAnswered: boolean) => void>()
  readonly #clock: Clock
  #id = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether `ask` was answered, within `boundMs` if there is one, and before `close`. */
  wait(ask: (id: number) => void, boundMs?: number): Promise<boolean> {
    const id = ++this.#id
    return new Promise((resolve) => {
      const timer =
        boundMs === undefined ? undefined : this.#clock.setTimeout(() => this.#settle(id, false), boundMs)
      this.#waiting.set(id, (isAnswered) => {
        this.#clock.clearTimeout(timer)
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
    for (const id of this.#waiting.keys()) this.#settle(id, false)
  }

  #settle(id: number, isAnswered: boolean): void {
    const settle = this.#waiting.get(id)
    this.#waiting.delete(id)
    settle?.(isAnswered)
  }
}
