import { systemClock } from '@vinyasa/core'

/** Calls a function in a later tick, after written data has left. Returns a function that cancels the call. */
export function inLaterTurn(callback: () => void): () => void {
  // Some platforms have no `setImmediate`. If it exists, it runs before timers.
  if (typeof setImmediate === 'function') {
    const immediate = setImmediate(callback)
    return () => clearImmediate(immediate)
  }
  const timer = systemClock.setTimeout(callback, 0)
  return () => systemClock.clearTimeout(timer)
}
