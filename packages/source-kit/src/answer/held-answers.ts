import { type Clock, createAttachment, systemClock } from '@vinyasa/base'
import type { AnswerSize, AnswerWatcher } from '@vinyasa/yoga-internals'

/** What one server holds of all large answers that it makes. */
export interface HeldAnswers extends AnswerWatcher {
  /**
   * While all together hold more than half of what resolvers may hold of one, those that are not the oldest are to wait,
   * unless they hold little: for another to be over, but not for long. The oldest may itself wait for what they bring.
   */
  room(size: AnswerSize): Promise<void> | undefined
}

/** From how much on others are told that large answers are held. */
const LARGE_BYTES = 8 * 1024 * 1024
/** What each may hold, however much the others do. */
const LITTLE_BYTES = 1024 * 1024
const WAIT_MS = 100

interface Held {
  bytes: number
}

/** `onLarge`: whether answers hold so much that it matters to all; told when that changes. */
export function createHeldAnswers(
  onLarge: (areHeld: boolean) => void,
  clock: Clock = systemClock,
): HeldAnswers {
  const known = createAttachment<Held>()
  /** The oldest first. */
  const all = new Set<Held>()
  let waiting: (() => void)[] = []
  let bytes = 0
  let isLarge = false

  function set(held: Held, to: number): void {
    bytes += to - held.bytes
    held.bytes = to
    if (isLarge === bytes > LARGE_BYTES) return
    isLarge = !isLarge
    onLarge(isLarge)
  }

  function leave(held: Held): void {
    if (!all.delete(held)) return
    set(held, 0)
    for (const goOn of waiting.splice(0)) goOn()
  }

  // Not everybody who executes says when an answer is over.
  const forgotten =
    typeof FinalizationRegistry === 'function' ? new FinalizationRegistry<Held>(leave) : undefined

  function enter(size: AnswerSize): Held {
    const held: Held = { bytes: 0 }
    known.set(size, held)
    all.add(held)
    forgotten?.register(size, held)
    return held
  }

  return {
    holds(size, now) {
      const held = known.get(size) ?? enter(size)
      // What is over may still be measured.
      if (all.has(held)) set(held, now)
    },
    over(size) {
      const held = known.get(size)
      if (held) leave(held)
    },
    room(size) {
      const held = known.get(size)
      const [oldest] = all
      if (!held || !all.has(held) || held === oldest || held.bytes <= LITTLE_BYTES) return undefined
      if (bytes <= size.maxHeldBytes / 2) return undefined
      return new Promise((resolve) => {
        const goOn = (): void => {
          clock.clearTimeout(timer)
          resolve()
        }
        const timer = clock.setTimeout(() => {
          waiting = waiting.filter((one) => one !== goOn)
          resolve()
        }, WAIT_MS)
        waiting.push(goOn)
      })
    },
  }
}
