import type { Clock } from '@vinyasa/base'

export interface RetryBudgetOptions {
  /** Retries as a share of the calls in the window. Default 0.1. */
  readonly ratio?: number | undefined
  /** Milliseconds that are looked back on. Default 10,000. */
  readonly windowMs?: number | undefined
  /** Retries in a window that are allowed however few calls there are. Default 10. */
  readonly minRetries?: number | undefined
}

export interface RetryBudget {
  /** A call was made. */
  call(): void
  /** Takes one retry out of the budget; false when it is spent. */
  take(): boolean
}

const BUCKETS = 10

/** Bounds the load that retries add, so that an upstream in trouble is not kept there by its clients. */
export function createRetryBudget(
  clock: Clock,
  options: RetryBudgetOptions | false | undefined,
): RetryBudget {
  if (options === false) return { call: () => {}, take: () => true }
  const { ratio = 0.1, windowMs = 10_000, minRetries = 10 } = options ?? {}
  const width = windowMs / BUCKETS
  const buckets = Array.from({ length: BUCKETS }, () => ({ slot: -1, calls: 0, retries: 0 }))

  function bucket(): { calls: number; retries: number } {
    const slot = Math.floor(clock.now() / width)
    const current = buckets[slot % BUCKETS] as (typeof buckets)[number]
    if (current.slot !== slot) Object.assign(current, { slot, calls: 0, retries: 0 })
    return current
  }

  function total(what: 'calls' | 'retries'): number {
    const oldest = Math.floor(clock.now() / width) - BUCKETS
    return buckets.reduce((sum, entry) => (entry.slot > oldest ? sum + entry[what] : sum), 0)
  }

  return {
    call() {
      bucket().calls++
    },
    take() {
      if (total('retries') >= Math.max(minRetries, ratio * total('calls'))) return false
      bucket().retries++
      return true
    },
  }
}
