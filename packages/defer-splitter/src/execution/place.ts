import type { GraphQLObjectType } from 'graphql'
import type { PathSegment } from '../parts.ts'
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
