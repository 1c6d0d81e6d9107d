/** Source of time. Tests can pass a fake clock. */
export interface Clock {
  /** Returns monotonic milliseconds, for durations. Changes of the wall clock do not affect it. */
  now(): number
  /** Returns milliseconds since 1970, for timestamps in messages, tokens, and lifetimes that other machines keep. */
  wallNow(): number
  /** Calls back after `ms`, which can exceed the platform's limit of about 24.8 days. */
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Maximum duration of a platform timer, about 24.8 days. Longer timers would fire immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Waits longer than `LONGEST_TIMER_MS` with several consecutive timers. */
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

/** Allows the process to exit before the timer fires. Timers that are numbers do not keep a process alive. */
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

/** Clock of the platform. */
export const systemClock: Clock = createSystemClock(true)

/** Clock of the platform. Its timers do not keep the process running. */
export const backgroundClock: Clock = createSystemClock(false)
