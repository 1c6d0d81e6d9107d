/** Time as everything here sees it; tests hand in one that stands still. */
export interface Clock {
  /** Milliseconds since any moment, never going back whatever is done to the wall clock: for how long something takes. */
  now(): number
  /** Milliseconds since 1970, as people and other machines count: for what is sent, tokens, and lifetimes kept elsewhere. */
  wallNow(): number
  /** Waits as long as it is told, be it years. */
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** The platform fires a timer that is longer than this at once. About 24.8 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A wait of several timers, one after another. */
class LongTimer {
  current: NodeJS.Timeout | undefined

  arm(callback: () => void, left: number, keepsAlive: boolean): this {
    const part = Math.min(left, LONGEST_TIMER_MS)
    const next = left > part ? () => this.arm(callback, left - part, keepsAlive) : callback
    this.current = setTimeout(next, part)
    if (!keepsAlive) unref(this.current)
    return this
  }
}

/** Lets the process end before the timer fires. Timers that are numbers keep no process alive. */
function unref(timer: NodeJS.Timeout): void {
  if (typeof timer === 'object') timer.unref()
}

function createSystemClock(keepsAlive: boolean): Clock {
  return {
    now: () => performance.now(),
    wallNow: () => Date.now(),
    setTimeout(callback, ms) {
      if (ms > LONGEST_TIMER_MS) return new LongTimer().arm(callback, ms, keepsAlive)
      const timer = setTimeout(callback, ms)
      if (!keepsAlive) unref(timer)
      return timer
    },
    clearTimeout: (timer) =>
      clearTimeout(timer instanceof LongTimer ? timer.current : (timer as NodeJS.Timeout)),
  }
}

/** The platform's. */
export const systemClock: Clock = createSystemClock(true)

/** The same; its timers alone keep no process alive. */
export const backgroundClock: Clock = createSystemClock(false)
