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
  /** Mostly one, or none. */
  readonly #listeners: (() => void)[] = []
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
    for (const listener of this.#listeners.splice(0)) listener()
  }

  /** Calls back once, at once if it is over already; the returned function lets go. */
  onEnd(listener: () => void): () => void {
    if (this.#hasEnded) {
      listener()
      return () => {}
    }
    this.#listeners.push(listener)
    return () => {
      const at = this.#listeners.indexOf(listener)
      if (at >= 0) this.#listeners.splice(at, 1)
    }
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
  const signals = ofExecution instanceof AbortSignal ? [ofExecution] : []
  if (ofAnswer instanceof AbortSignal && ofAnswer !== ofExecution) signals.push(ofAnswer)
  return signals
}

interface Following {
  readonly ending: Ending | undefined
  release(): void
}

const NOBODY: Following = { ending: undefined, release() {} }

/** An ending that comes when one of the signals aborts; `release` lets go of them. */
export function followSignals(signals: readonly AbortSignal[]): Following {
  if (signals.length === 0) return NOBODY
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
  readonly #timer: unknown
  readonly #letGo: (() => void) | undefined

  /** `leftMs`: what is left of `ms`. */
  constructor(clock: Clock, ms: number, parent: Ending | undefined, leftMs: number = ms) {
    super()
    this.#clock = clock
    this.#timer = clock.setTimeout(() => this.end(new DeadlineExceeded(ms)), leftMs)
    this.#letGo = parent?.onEnd(() => this.end(parent.reason))
  }

  /** Releases the timer and lets go of the parent. */
  stop(): void {
    this.#clock.clearTimeout(this.#timer)
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
