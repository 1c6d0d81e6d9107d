import { type Clock, createAttachment, systemClock } from '@vinyasa/core'
import { type AnswerSize, type AnswerWatcher } from '@vinyasa/core/documents'

/** What one server holds of all large answers that it makes. */
export interface HeldAnswers extends AnswerWatcher {
  /**
   * While all together hold more than half of what resolvers may hold of one, those that are not the oldest wait, unless they
   * hold little. One goes on to its end when another is over, and after 50 ms, as the oldest of all may itself wait for what
   * it brings: the oldest of the owner that holds least.
   */
  room(size: AnswerSize, owner: unknown): Promise<void> | undefined
  /** Whether all together hold so much that newer answers wait. */
  areMany(size: AnswerSize): boolean
}

/** From how much on others are told that large answers are held. */
const LARGE_BYTES = 8 * 1024 * 1024
/** What each may hold, however much the others do. */
const LITTLE_BYTES = 64 * 1024
const WAIT_MS = 50

interface Held {
  bytes: number
  /** Known once it asks for room. */
  owner?: unknown
  /** It waited, and goes on to its end. */
  isLetOn: boolean
  /** It waits until this is called. */
  goOn?: (() => void) | undefined
}

/** `onLarge`: whether answers hold so much that it matters to all; told when that changes. */
export function createHeldAnswers(
  onLarge: (areHeld: boolean) => void,
  clock: Clock = systemClock,
): HeldAnswers {
  const known = createAttachment<Held>()
  /** The oldest first. */
  const all = new Set<Held>()
  let timer: ReturnType<Clock['setTimeout']> | undefined
  let bytes = 0
  let isLarge = false

  function set(held: Held, to: number): void {
    bytes += to - held.bytes
    held.bytes = to
    // Waiting objects come and go: near the bound it would change with each turn.
    if (isLarge === bytes > (isLarge ? LARGE_BYTES / 2 : LARGE_BYTES)) return
    isLarge = !isLarge
    onLarge(isLarge)
  }

  function leave(held: Held): void {
    if (!all.delete(held)) return
    set(held, 0)
    // Who waits for room with it hears that there is none.
    held.goOn?.()
    letOneGoOn()
  }

  function letOneGoOn(): void {
    if (timer !== undefined) clock.clearTimeout(timer)
    timer = undefined
    const waiting = [...all].filter(({ goOn }) => goOn)
    if (waiting.length === 0) return
    const bytesOf = new Map<unknown, number>()
    for (const held of all) bytesOf.set(held.owner, (bytesOf.get(held.owner) ?? 0) + held.bytes)
    const [next, another] = waiting.toSorted(
      (one, other) => (bytesOf.get(one.owner) ?? 0) - (bytesOf.get(other.owner) ?? 0),
    )
    if (another) timer = clock.setTimeout(letOneGoOn, WAIT_MS)
    if (!next) return
    next.isLetOn = true
    next.goOn?.()
    next.goOn = undefined
  }

  // Not everybody who executes says when an answer is over.
  const forgotten =
    typeof FinalizationRegistry === 'function' ? new FinalizationRegistry<Held>(leave) : undefined

  function enter(size: AnswerSize): Held {
    const held: Held = { bytes: 0, isLetOn: false }
    known.set(size, held)
    all.add(held)
    forgotten?.register(size, held)
    return held
  }

  const areMany = ({ maxHeldBytes }: AnswerSize): boolean => bytes > maxHeldBytes / 2

  return {
    areMany,
    holds(size, now) {
      const held = known.get(size) ?? enter(size)
      // What is over may still be measured.
      if (all.has(held)) set(held, now)
    },
    over(size) {
      const held = known.get(size)
      if (held) leave(held)
    },
    room(size, owner) {
      const held = known.get(size)
      if (!held || !all.has(held)) return undefined
      held.owner = owner
      const [oldest] = all
      if (held.isLetOn || held === oldest || held.bytes <= LITTLE_BYTES) return undefined
      if (!areMany(size)) return undefined
      return new Promise((resolve) => {
        held.goOn = resolve
        timer ??= clock.setTimeout(letOneGoOn, WAIT_MS)
      })
    },
  }
}
