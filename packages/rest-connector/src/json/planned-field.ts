import type { Turns } from '@vinyasa/core'
import { type BatchedJoin, type ItemsByKey, ResolverMarks } from '@vinyasa/source-kit'
import type { Call, FieldScope } from '../call/call.ts'
import type { Args } from '../templates/template.ts'

/** A root field that an endpoint answers. */
export interface PlannableEndpoint {
  readonly kind: 'endpoint'
  readonly call: Call
  /** The turns of the event loop in which long answers are worked on. */
  readonly turns: Turns
}

/** A field whose values one call brings for many parents. */
export interface PlannableJoin extends BatchedJoin {
  readonly kind: 'join'
  /** The argument that takes the keys. */
  readonly arg: string
  /** The parent's field that is its key. */
  readonly parentField: string
  /** Calls the endpoint. */
  readonly loadItems: LoadItems
}

export type LoadItems = (keys: readonly unknown[], args: Args, scope: FieldScope) => Promise<ItemsByKey>

export type Mark = PlannableEndpoint | PlannableJoin

/** The resolvers of sources that a plan can do without. */
export const marks: ResolverMarks<Mark> = new ResolverMarks()
