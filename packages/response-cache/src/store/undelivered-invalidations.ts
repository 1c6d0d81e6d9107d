import type { Tags } from './tags.ts'

/**
 * Invalidations that a shared store has yet to hear of, as it did not answer. Kept outside of the store, so
 * that another one in its place neither loses it nor reads anything before it is delivered.
 */
export interface UndeliveredInvalidations {
  /** `from`: the store that could not deliver them. */
  add(tags: Tags, from: string): void
  /** Something waits, or is on its way. */
  readonly hasAny: boolean
  /** All that waits, at once. */
  take(): Delivery | undefined
  /** The listener hears of whatever is added. Returns how to leave. */
  subscribe(listener: (tags: Tags, from: string) => void): () => void
}

export interface Delivery {
  readonly tags: Tags
  /** Not delivered: it waits again. */
  end(isDelivered: boolean): void
}

/** From this many on, everything is undelivered. */
const MAX_TAGS = 1_000

/** One for all the Redis stores of a process that follow each other, for `createRedisStore`'s option `undelivered`. */
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
