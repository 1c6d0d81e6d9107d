import {
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isNonNullType,
  locatedError,
  responsePathAsArray,
} from 'graphql'
import type { DeferredFragment, FieldGroup } from '../collect-fields.ts'
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

/** A field error stops at the nearest place that may be null: here, or it is thrown on. */
export function failField(
  group: DeliveryGroup,
  error: unknown,
  type: GraphQLOutputType,
  { nodes }: FieldGroup,
  path: Path,
): null {
  const located = locatedError(error, nodes, responsePathAsArray(path))
  if (isNonNullType(type)) throw located
  group.errors.push(located)
  return null
}
