import { type Abortable, onAbort } from '../ending.ts'

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

/** Resolves after `ms`, or immediately when the signal aborts. */
export function sleep(clock: Clock, ms: number, signal?: Abortable): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => {
      letGo?.()
      resolve()
    }, ms)
    const letGo =
      signal &&
      onAbort(signal, () => {
        clock.clearTimeout(timer)
        resolve()
      })
  })
}

/** Settles like the promise, or rejects with `reason()` as soon as the signal aborts. The promise itself continues. */
export function unlessAborted<T>(
  promise: Promise<T>,
  signal: Abortable | undefined,
  reason: () => unknown = () => signal?.reason,
): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const letGo = onAbort(signal, () => reject(reason()))
    promise.then(resolve, reject).finally(letGo)
  })
}

/** Interval for checking the wall clock, because it can be changed during the wait. */
const LOOK_EVERY_MS = 60_000

export interface WallTimer {
  stop(): void
}

/**
 * Calls back when the wall clock reaches a time, which can be years away. The callback is always
 * asynchronous, also if the time has passed.
 */
export function atWallTime(clock: Clock, time: number, call: () => void): WallTimer {
  let timer: unknown
  const look = (): void => {
    const left = time - clock.wallNow()
    timer = left > 0 ? clock.setTimeout(look, Math.min(left, LOOK_EVERY_MS)) : clock.setTimeout(call, 0)
  }
  look()
  return { stop: () => clock.clearTimeout(timer) }
}

/** Number of consecutive timers per wait. */
const PARTS = 5

/**
 * Calls back after `ms` during which the process was not blocked. The process can read pending input between the
 * parts of the wait. Returns a function that cancels the wait.
 */
export function awake(clock: Clock, ms: number, call: () => void): () => void {
  let timer: unknown
  const wait = (parts: number): void => {
    if (parts === 0) call()
    else timer = clock.setTimeout(() => wait(parts - 1), ms / PARTS)
  }
  wait(PARTS)
  return () => clock.clearTimeout(timer)
}
