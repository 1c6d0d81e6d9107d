import type { Clock } from '@vinyasa/core'

export interface RetryBudget {
  /** A call was made. */
  call(): void
  /** Takes one retry out of the budget; false when it is spent. */
  take(): boolean
}

/** Retries as a share of the calls in the window. */
const RATIO = 0.1
/** Retries in a window that are allowed however few calls there are. */
const MIN_RETRIES = 10
const BUCKETS = 10
const BUCKET_MS = 1_000

/** Bounds the load that retries add, so that an upstream in trouble is not kept there by its clients. */
export function createRetryBudget(clock: Clock): RetryBudget {
  const buckets = Array.from({ length: BUCKETS }, () => ({ slot: -1, calls: 0, retries: 0 }))

  function bucket(): { calls: number; retries: number } {
    const slot = Math.floor(clock.now() / BUCKET_MS)
    const current = buckets[slot % BUCKETS] as (typeof buckets)[number]
    if (current.slot !== slot) Object.assign(current, { slot, calls: 0, retries: 0 })
    return current
  }

  function total(what: 'calls' | 'retries'): number {
    const oldest = Math.floor(clock.now() / BUCKET_MS) - BUCKETS
    return buckets.reduce((sum, entry) => (entry.slot > oldest ? sum + entry[what] : sum), 0)
  }

  return {
    call() {
      bucket().calls++
    },
    take() {
      if (total('retries') >= Math.max(MIN_RETRIES, RATIO * total('calls'))) return false
      bucket().retries++
      return true
    },
  }
}
