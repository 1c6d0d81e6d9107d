import type { Clock } from './clock.ts'
import type { Abortable } from '../ending.ts'
import { onAbort } from '../on-abort.ts'

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
