import { typeOfTag, type Tags } from './tags.ts'

/**
 * Counts invalidations and remembers when each tag was last invalidated. An entry carries the count
 * that stood before its execution began; it holds as long as none of its tags was invalidated since.
 * So a result computed from data that changed meanwhile is neither stored nor served, whatever the
 * order in which the two finish, and invalidating costs the same however many entries there are.
 */
export interface VersionClock {
  now(): number
  holds(version: number, tags: readonly string[]): boolean
  /**
   * For a result that is not there yet, so that nobody knows its entities: whether nothing at all
   * of these types was invalidated since.
   */
  isUntouched(version: number, types: readonly string[]): boolean
  invalidate(tags: Tags): void
}

/** How many tags to remember before identified entities are folded into their types. */
const MAX_TAGS = 10_000

export function createVersionClock(): VersionClock {
  let version = 0
  let floor = 0
  const lastInvalidated = new Map<string, number>()
  /** By type, whatever part of it was hit. */
  const lastTouched = new Map<string, number>()

  /** Keeps the map bounded: forgetting one entity means that all of its type count as invalidated. */
  function fold() {
    for (const [tag, at] of lastInvalidated) {
      const type = typeOfTag(tag)
      if (type === tag) continue
      lastInvalidated.delete(tag)
      lastInvalidated.set(type, Math.max(at, lastInvalidated.get(type) ?? 0))
    }
  }

  function isSince(at: ReadonlyMap<string, number>, since: number, tags: readonly string[]): boolean {
    return since < floor || tags.some((tag) => (at.get(tag) ?? 0) > since)
  }

  return {
    now: () => version,
    holds: (since, tags) => !isSince(lastInvalidated, since, tags),
    isUntouched: (since, types) => !isSince(lastTouched, since, types),
    invalidate(tags) {
      version++
      if (tags === 'all') {
        floor = version
        lastInvalidated.clear()
        lastTouched.clear()
        return
      }
      for (const tag of tags) {
        lastInvalidated.set(tag, version)
        lastTouched.set(typeOfTag(tag), version)
      }
      if (lastInvalidated.size > MAX_TAGS) fold()
    },
  }
}
