import type { Clock } from '../clock.ts'

export interface Timer {
  stop(): void
}

/** Longest time that a timer of the platform can wait; more of it would be none at all. */
const MAX_WAIT_MS = 2 ** 31 - 1

/** Calls at a time of the clock, be it years away; soon, but not at once, for a time that is past. */
export function startTimer(clock: Clock, time: number, call: () => void): Timer {
  let handle: unknown
  const wait = (): void => {
    const left = Math.max(0, time - clock.now())
    handle = clock.setTimeout(left > MAX_WAIT_MS ? wait : call, Math.min(left, MAX_WAIT_MS))
  }
  wait()
  return { stop: () => clock.clearTimeout(handle) }
}
