import type { Clock } from './clock.ts'
import type { Abortable } from './ending.ts'
import { onAbort } from './on-abort.ts'

/** Resolves after `ms`, or at once when the signal aborts. */
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

/** Settles as the promise does, which goes on, or rejects with `reason()` as soon as the signal aborts. */
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

/** The wall clock may be set meanwhile: it is looked at this often. */
const LOOK_EVERY_MS = 60_000

export interface WallTimer {
  stop(): void
}

/** Calls when the wall clock has come to a time, be it years away; soon, but not at once, for a time that is past. */
export function atWallTime(clock: Clock, time: number, call: () => void): WallTimer {
  let timer: unknown
  const look = (): void => {
    const left = time - clock.wallNow()
    timer = left > 0 ? clock.setTimeout(look, Math.min(left, LOOK_EVERY_MS)) : clock.setTimeout(call, 0)
  }
  look()
  return { stop: () => clock.clearTimeout(timer) }
}

/** The parts that a wait is made of. */
const PARTS = 5

/**
 * Calls after a time in which this process was not held up: what has come meanwhile it reads before the next part of it.
 * The returned function ends the wait.
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
