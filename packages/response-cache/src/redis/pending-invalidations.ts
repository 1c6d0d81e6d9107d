import type { Tags } from '../tags.ts'

/** Invalidations that Redis has yet to hear of. */
export interface PendingInvalidations {
  add(tags: Tags): void
  /** All of them at once, or undefined. */
  take(): Tags | undefined
}

const maxTags = 1_000

export function createPendingInvalidations(): PendingInvalidations {
  let owed: Set<string> | 'all' = new Set()
  return {
    add(tags) {
      if (owed === 'all') return
      if (tags === 'all' || owed.size + tags.length > maxTags) {
        owed = 'all'
        return
      }
      for (const tag of tags) owed.add(tag)
    },
    take() {
      if (owed !== 'all' && owed.size === 0) return undefined
      const taken = owed === 'all' ? 'all' : [...owed]
      owed = new Set()
      return taken
    },
  }
}
