import type { FieldNodes, PlannedSelection } from '../document/selections.ts'
import type { PathSegment } from '../parts.ts'

/** The outcome of a resolver, kept for the other fragments that select the same field of the same object. */
export type Resolved = { readonly value: unknown } | { readonly thrown: unknown }

/**
 * The values of fields that several groups select. Each value is resolved once, by the first group. Each group
 * completes it with its own selections.
 */
export interface SharedValues {
  has(key: string): boolean
  /**
   * Returns the nodes of all groups, for resolvers that read the selections. Returns `undefined` if they are unknown.
   */
  nodesOf(key: string): FieldNodes | undefined
  get(key: string): Resolved | undefined
  set(key: string, resolved: Resolved): void
  /** Returns the values below a field or a list item. Everything below a shared field is shared. */
  below(segment: PathSegment): SharedValues
}

/** @param keys the shared response keys; `undefined` means all */
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
