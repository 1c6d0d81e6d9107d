import type { GraphQLError, GraphQLObjectType } from 'graphql'
import type { PathSegment } from '../parts.ts'
import type { Operation } from './operation.ts'
import type { PlannedFragment } from '../document/selections.ts'
import type { SharedValues } from './shared-values.ts'

export interface Path {
  readonly prev: Path | undefined
  readonly key: PathSegment
  readonly typename: string | undefined
}

/** An object whose fields are executed. */
export interface ObjectPlace {
  readonly type: GraphQLObjectType
  readonly source: unknown
  readonly path: Path | undefined
  readonly shared: SharedValues | undefined
}

/** Fields that are delivered together: the first part, or one fragment at one place. */
export interface DeliveryGroup {
  readonly operation: Operation
  /** Aborts when the group's calls are no longer wanted. Made when it is asked for. */
  readonly signal: AbortSignal | undefined
  /** The same for calls whose values other groups wait for too. */
  readonly sharedSignal: AbortSignal | undefined
  /** No longer wanted: timed out, or the client has left. */
  readonly isClosed: boolean
  /**
   * Takes an error of one of the group's fields, and the place that is null for it; one that comes after the group was
   * done is not told any more.
   */
  report(error: GraphQLError, place: Path): void
  /** Takes fragments for later; false when the response may not have that many more patches. */
  defer(fragments: readonly PlannedFragment[], place: ObjectPlace): boolean
}
