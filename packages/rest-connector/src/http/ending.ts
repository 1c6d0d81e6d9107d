import { type Abortable, type Clock, Ending, endingOf, onAbort } from '@vinyasa/core'
import { endOfRead } from '@vinyasa/source-kit'

/**
 * Returns what may end a call: the execution (a deferred part timed out) and the request (its client left), the latter
 * also when the answer is given up, unless `isAlone`: no answer is made beside the call, or others are made after it.
 */
export function endingsOf(
  context: unknown,
  ofExecution: Abortable | undefined,
  isAlone: boolean,
): Abortable[] {
  const leaving = endingOf((context as { readonly request?: unknown } | null | undefined)?.request)
  const ofAnswer = isAlone ? leaving : endOfRead(context, leaving)
  const endings = ofExecution ? [ofExecution] : []
  if (ofAnswer && ofAnswer !== ofExecution) endings.push(ofAnswer)
  return endings
}

interface Following {
  readonly ending: Ending | undefined
  release(): void
}

const NOBODY: Following = { ending: undefined, release() {} }

/** An ending that comes with the first of those; `release` lets go of them. */
export function followEndings(endings: readonly Abortable[]): Following {
  const [only] = endings
  if (!only) return NOBODY
  if (endings.length === 1 && 'onAbort' in only) return { ...NOBODY, ending: only }
  const ending = new Ending()
  const letGo = endings.map((followed) => onAbort(followed, () => ending.abort(followed.reason)))
  return { ending, release: () => letGo.forEach((release) => release()) }
}

/** The reason of an ending that a deadline brought about. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
  readonly ms: number
  constructor(ms: number) {
    super(`no response within ${ms} ms`)
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
    this.#timer = clock.setTimeout(() => this.abort(new DeadlineExceeded(ms)), leftMs)
    this.#letGo = parent?.onAbort(() => this.abort(parent.reason))
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
    const letGo = ending.onAbort(() => {
      clock.clearTimeout(timer)
      reject(ending.reason as Error)
    })
  })
}
