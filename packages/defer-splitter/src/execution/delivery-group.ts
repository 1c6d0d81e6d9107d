import type { GraphQLError, GraphQLObjectType } from 'graphql'
import type { DeferredFragment } from '../collect-fields.ts'
import type { PathSegment } from '../parts.ts'
import type { Operation } from './operation.ts'
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

/** What is delivered together: the first part, or one fragment at one place. */
export interface DeliveryGroup {
  readonly operation: Operation
  readonly contextValue: unknown
  readonly signal: AbortSignal | undefined
  readonly errors: GraphQLError[]
  /** No longer wanted: timed out, or the client has left. */
  readonly isClosed: boolean
  /** Takes fragments for later; false when the response may not have that many more patches. */
  defer(fragments: readonly DeferredFragment[], place: ObjectPlace): boolean
}
