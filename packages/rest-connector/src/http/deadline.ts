import type { Clock } from '../clock.ts'
import { Ending } from './ending.ts'

/** The reason of an ending that a deadline brought about. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
  readonly ms: number
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.ms = ms
  }
}

/** An ending after `ms`, or when the parent ends. */
export class Deadline extends Ending {
  readonly #clock: Clock
  readonly #ms: number
  #timer: unknown
  readonly #letGo: (() => void) | undefined

  /** `isCovered`: an earlier one stands in for it until `startTimer` is called. */
  constructor(clock: Clock, ms: number, parent: Ending | undefined, isCovered = false) {
    super()
    this.#clock = clock
    this.#ms = ms
    if (!isCovered) this.startTimer(ms)
    this.#letGo = parent?.onEnd(() => this.end(parent.reason))
  }

  /** Ends it in `leftMs`, unless a timer runs already. */
  startTimer(leftMs: number): void {
    this.#timer ??= this.#clock.setTimeout(() => this.end(new DeadlineExceeded(this.#ms)), leftMs)
  }

  /** Only the parent can end it from here on. */
  stopTimer(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
  }

  /** Releases the timer and lets go of the parent. */
  stop(): void {
    this.stopTimer()
    this.#letGo?.()
  }
}

/** Waits `ms`, or rejects with the ending's reason as soon as it comes. */
export function wait(clock: Clock, ms: number, ending: Ending): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => {
      letGo()
      resolve()
    }, ms)
    const letGo = ending.onEnd(() => {
      clock.clearTimeout(timer)
      reject(ending.reason as Error)
    })
  })
}
