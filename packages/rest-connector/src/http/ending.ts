import { onAbort, type Clock } from '@vinyasa/base'
import { endOfRead } from '@vinyasa/source-kit'

/**
 * When and why a piece of work is over, for whoever takes part in it. It does inside the connector what an
 * `AbortSignal` does, without its price: making one costs more than all else that a call needs, and every call has
 * several. A signal is made for those outside who ask for one.
 */
export class Ending {
  #hasEnded = false
  #reason: unknown
  #listeners: Set<() => void> | undefined
  #controller: AbortController | undefined

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#hasEnded) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  end(reason: unknown): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = [...(this.#listeners ?? [])]
    this.#listeners = undefined
    for (const listener of listeners) listener()
  }

  /** Calls back once, at once if it is over already; the returned function lets go. */
  onEnd(listener: () => void): () => void {
    if (this.#hasEnded) {
      listener()
      return () => {}
    }
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
    return () => this.#listeners?.delete(listener)
  }
}

/**
 * Returns the signals that may end a call: that of the execution (a deferred part timed out) and that of the
 * request (its client left), the latter also when the answer is given up, unless `isAlone`: no answer is made
 * beside the call, or others are made after it.
 */
export function signalsOf(context: unknown, ofExecution: unknown, isAlone: boolean): AbortSignal[] {
  const ofRequest = (context as { request?: { signal?: unknown } } | null | undefined)?.request?.signal
  const leaving = ofRequest instanceof AbortSignal ? ofRequest : undefined
  const ofAnswer = isAlone ? leaving : endOfRead(context, leaving)
  return [...new Set([ofExecution, ofAnswer])].filter((signal) => signal instanceof AbortSignal)
}

/** An ending that comes when one of the signals aborts; `release` lets go of them. */
export function followSignals(signals: readonly AbortSignal[]): {
  readonly ending: Ending | undefined
  release(): void
} {
  if (signals.length === 0) return { ending: undefined, release: () => {} }
  const ending = new Ending()
  const letGo = signals.map((signal) => onAbort(signal, () => ending.end(signal.reason)))
  return { ending, release: () => letGo.forEach((release) => release()) }
}

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

  /** Releases the timer and lets go of the parent. */
  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
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
