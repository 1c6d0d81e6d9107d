import type { Tags } from './entry.ts'

/**
 * Invalidations that a shared store has not received because it did not respond. They are kept outside of the store, so
 * that a replacement store delivers them before it reads.
 */
export interface UndeliveredInvalidations {
  /** Adds tags. `from` is the store that could not deliver them. */
  add(tags: Tags, from: string): void
  /** Whether invalidations are pending or being delivered. */
  readonly hasAny: boolean
  /** Removes and returns all pending invalidations. */
  take(): Delivery | undefined
  /** Calls the listener for added tags. Returns a function that ends the subscription. */
  subscribe(listener: (tags: Tags, from: string) => void): () => void
}

export interface Delivery {
  readonly tags: Tags
  /** Ends a delivery. If it failed, the invalidations are pending again. */
  end(isDelivered: boolean): void
}

/** Above this number of tags, everything counts as invalidated. */
const MAX_TAGS = 1_000

/**
 * Creates the object for the option `undelivered` of `createRedisStore`. Consecutive Redis stores of a process share
 * it.
 */
export function createUndeliveredInvalidations(): UndeliveredInvalidations {
  const listeners = new Set<(tags: Tags, from: string) => void>()
  let waiting: Set<string> | 'all' = new Set()
  let underWay = 0

  const isWaiting = (): boolean => waiting === 'all' || waiting.size > 0

  function keep(tags: Tags): void {
    if (waiting === 'all') return
    if (tags === 'all' || waiting.size + tags.length > MAX_TAGS) waiting = 'all'
    else for (const tag of tags) waiting.add(tag)
  }

  return {
    add(tags, from) {
      keep(tags)
      for (const listener of listeners) listener(tags, from)
    },
    get hasAny() {
      return underWay > 0 || isWaiting()
    },
    take() {
      if (!isWaiting()) return undefined
      const tags = waiting === 'all' ? 'all' : [...waiting]
      waiting = new Set()
      underWay++
      return {
        tags,
        end(isDelivered) {
          underWay--
          if (!isDelivered) keep(tags)
        },
      }
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
