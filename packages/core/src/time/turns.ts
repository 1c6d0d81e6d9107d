import { nextTick } from 'node:process'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'

/** Splits long work, so that the event loop can do other work in between. */
export interface Turns {
  /**
   * Resolves in a tick of the event loop in which no other work of these turns runs. Owners take turns.
   * @param owner See `ownerOf`. Work without an owner shares one owner.
   */
  next(owner?: unknown): Promise<void>
}

/**
 * Approximate bytes of a response that are processed in one tick. Processing them takes one or two
 * milliseconds.
 */
export const SLICE_BYTES: number = 64 * 1024
/** Milliseconds of a tick during which work can start. */
export const TURN_MS = 5
/**
 * Maximum pause in milliseconds. An owner whose work took longer than `TURN_MS` pauses for the same time. The
 * pause ends early when another owner has work.
 */
const MAX_PAUSE_MS = 50

export function createTurns(): Turns {
  const waiting = new Map<unknown, (() => void)[]>()
  let isAsked = false
  /** Owner that pauses after long work. */
  let resting: { readonly owner: unknown; readonly timer: NodeJS.Timeout } | undefined

  function ask(): void {
    const [first] = waiting
    if (isAsked || !first) return
    if (resting) {
      if (waiting.size === 1 && first[0] === resting.owner) return
      clearTimeout(resting.timer)
      // Move the pausing owner to the end of the queue.
      const line = waiting.get(resting.owner)
      if (line) {
        waiting.delete(resting.owner)
        waiting.set(resting.owner, line)
      }
      resting = undefined
    }
    isAsked = true
    setImmediate(() => void give())
  }

  async function give(): Promise<void> {
    const [first] = waiting
    if (!first) return void (isAsked = false)
    const [owner, line] = first
    waiting.delete(owner)
    const resolve = line.shift()
    if (line.length > 0) waiting.set(owner, line)
    const from = performance.now()
    resolve?.()
    await drained()
    isAsked = false
    rest(owner, performance.now() - from)
    ask()
  }

  /**
   * Starts a pause after long work. A pause of one tick would be too short, because a request crosses the
   * event loop several times.
   */
  function rest(owner: unknown, tookMs: number): void {
    if (tookMs <= TURN_MS) return
    const wake = (): void => {
      resting = undefined
      ask()
    }
    resting = { owner, timer: setTimeout(wake, Math.min(tookMs, MAX_PAUSE_MS)) }
  }

  return {
    next: (owner) =>
      new Promise((resolve) => {
        const line = waiting.get(owner)
        if (line) line.push(resolve)
        else waiting.set(owner, [resolve])
        ask()
      }),
  }
}

/** Resolves when all queued microtasks, and microtasks that they queue, have run. */
export function drained(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => nextTick(resolve))
  })
}
