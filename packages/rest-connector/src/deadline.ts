import { setMaxListeners } from 'node:events'
import type { Clock } from './clock.ts'

/** The reason of a signal that a deadline aborted. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
  readonly ms: number
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.ms = ms
  }
}

export interface Deadline {
  readonly signal: AbortSignal
  /** Only parents can abort it from here on. */
  stopTimer(): void
  /** Releases the timer and lets go of the parent signals. */
  stop(): void
}

/**
 * A signal that aborts after `ms`, or as soon as a parent does. `AbortSignal.any` is not used: on Node 20 it keeps
 * every derived signal alive as long as the parent, and a parent may live as long as a socket.
 */
export function startDeadline(
  clock: Clock,
  ms: number,
  parents: readonly (AbortSignal | undefined)[] = [],
): Deadline {
  const controller = new AbortController()
  const timer = clock.setTimeout(() => controller.abort(new DeadlineExceeded(ms)), ms)
  const release: (() => void)[] = []
  for (const parent of parents) {
    if (!parent) continue
    if (parent.aborted) {
      controller.abort(parent.reason)
      break
    }
    release.push(onAbort(parent, () => controller.abort(parent.reason)))
  }
  return {
    signal: controller.signal,
    stopTimer: () => clock.clearTimeout(timer),
    stop() {
      clock.clearTimeout(timer)
      for (const letGo of release) letGo()
    },
  }
}

/** Waits `ms`, or rejects with the signal's reason as soon as it aborts. */
export function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error)
      return
    }
    const onAbort = (): void => {
      clock.clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Calls back once if the signal aborts; the returned function lets go of it. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  // One operation makes many calls under one signal: that is no leak, and Node should not warn of one.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', callback, { once: true })
  return () => signal.removeEventListener('abort', callback)
}
