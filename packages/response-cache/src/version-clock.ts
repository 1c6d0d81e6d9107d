import type { Tags } from './tags.ts'
import { typeOfTag } from './tags.ts'

/**
 * Counts invalidations and remembers when each tag was last invalidated. An entry carries the count
 * that stood before its execution began; it holds as long as none of its tags was invalidated since.
 * So a result computed from data that changed meanwhile is neither stored nor served, whatever the
 * order in which the two finish, and invalidating costs the same however many entries there are.
 */
export interface VersionClock {
  now(): number
  holds(version: number, tags: readonly string[]): boolean
  invalidate(tags: Tags): void
}

export interface VersionClockOptions {
  /** How many tags to remember before identified entities are folded into their types. */
  readonly maxTags?: number | undefined
}

export function createVersionClock(options: VersionClockOptions = {}): VersionClock {
  const { maxTags = 10_000 } = options
  let version = 0
  let floor = 0
  const lastInvalidated = new Map<string, number>()

  /** Keeps the map bounded: forgetting one entity means that all of its type count as invalidated. */
  function fold() {
    for (const [tag, at] of lastInvalidated) {
      const type = typeOfTag(tag)
      if (type === tag) continue
      lastInvalidated.delete(tag)
      lastInvalidated.set(type, Math.max(at, lastInvalidated.get(type) ?? 0))
    }
  }

  return {
    now: () => version,
    holds(since, tags) {
      if (since < floor) return false
      for (const tag of tags) {
        const at = lastInvalidated.get(tag)
        if (at !== undefined && at > since) return false
      }
      return true
    },
    invalidate(tags) {
      version++
      if (tags === 'all') {
        floor = version
        lastInvalidated.clear()
        return
      }
      for (const tag of tags) lastInvalidated.set(tag, version)
      if (lastInvalidated.size > maxTags) fold()
    },
  }
}
