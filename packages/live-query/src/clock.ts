/** Time as the package sees it. Tests pass one that stands still. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Node runs a timer that is longer than this at once. About 24.8 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface SystemTimer {
  current: NodeJS.Timeout | undefined
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(callback, ms) {
    const timer: SystemTimer = { current: undefined }
    const arm = (left: number): void => {
      timer.current =
        left > LONGEST_TIMER_MS
          ? setTimeout(() => arm(left - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
          : setTimeout(callback, left)
    }
    arm(ms)
    return timer
  },
  clearTimeout: (timer) => clearTimeout((timer as SystemTimer | undefined)?.current),
}
