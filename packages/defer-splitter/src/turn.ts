import { systemClock } from '@vinyasa/core'

/** Runs the callback in a later turn of the event loop, when what was written has left. Returns how to prevent it. */
export function inLaterTurn(callback: () => void): () => void {
  // Not every platform has `setImmediate`, and where it is, it comes before timers.
  if (typeof setImmediate === 'function') {
    const immediate = setImmediate(callback)
    return () => clearImmediate(immediate)
  }
  const timer = systemClock.setTimeout(callback, 0)
  return () => systemClock.clearTimeout(timer)
}
