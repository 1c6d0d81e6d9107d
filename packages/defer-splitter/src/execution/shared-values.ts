import type { FieldNodes, PlannedSelection } from '../document/selections.ts'
import type { PathSegment } from '../parts.ts'

/** The outcome of a resolver, kept for the other fragments that select the same field of the same object. */
export type Resolved = { readonly value: unknown } | { readonly thrown: unknown }

/**
 * The values of fields that more than one delivery group selects. Each is resolved once, whichever group comes first,
 * and completed by each group with its own selections.
 */
export interface SharedValues {
  has(key: string): boolean
  /** The nodes of all groups, for resolvers that look at what is selected; undefined where they are not known. */
  nodesOf(key: string): FieldNodes | undefined
  get(key: string): Resolved | undefined
  set(key: string, resolved: Resolved): void
  /** The values below a field or list item; everything below a shared field is shared. */
  below(segment: PathSegment): SharedValues
}

/** @param keys The shared ones; undefined means all. */
export function createSharedValues(keys?: PlannedSelection['sharedKeys']): SharedValues {
  const resolved = new Map<string, Resolved>()
  const below = new Map<PathSegment, SharedValues>()
  return {
    has: (key) => keys === undefined || keys.has(key),
    nodesOf: (key) => keys?.get(key),
    get: (key) => resolved.get(key),
    set: (key, value) => void resolved.set(key, value),
    below(segment) {
      let values = below.get(segment)
      if (!values) below.set(segment, (values = createSharedValues()))
      return values
    },
  }
}
