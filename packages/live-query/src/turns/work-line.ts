import type { Clock } from '@vinyasa/base'
import type { Line } from './line.ts'

/** Work that takes longer waits for a slow backend: no reason why the client's other work should wait. */
const QUICK_MS = 250

/** A line whose jobs take a while. */
export class WorkLine {
  readonly #line: Line
  readonly #clock: Clock

  constructor(line: Line, clock: Clock) {
    this.#line = line
    this.#clock = clock
  }

  /** Settles as the work does. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const clock = this.#clock
    return new Promise((resolve, reject) => {
      this.#line.run(() => {
        const over = this.#line.countWork()
        const timer = clock.setTimeout(over, QUICK_MS)
        const done = work()
        done.then(resolve, reject)
        const end = (): void => {
          clock.clearTimeout(timer)
          over()
        }
        done.then(end, end)
      })
    })
  }
}
