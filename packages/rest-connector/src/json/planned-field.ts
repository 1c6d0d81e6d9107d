import { type BatchedJoin, type ItemsByKey, resolverBehind, type Turns } from '@vinyasa/source-kit'
import type { GraphQLField } from 'graphql'
import type { Call, FieldScope } from '../call/call.ts'
import type { Args } from '../templates/template.ts'

/** A root field that an endpoint answers. */
export interface PlannableEndpoint {
  readonly kind: 'endpoint'
  readonly call: Call
  /** Makes of a call's result what the field's resolver gives. */
  readonly checked: (result: unknown) => unknown
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

/** A wrapper of a resolver is another resolver, and has no mark. */
const marks = new WeakMap<object, Mark>()

/** Marks a resolver as one that a plan can do without. */
export function markResolver<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  mark: Mark,
): Resolver {
  marks.set(resolve, mark)
  return resolve
}

/** The mark of a field's resolver, unless another plugin has put a resolver of its own there. */
export function markOf({ resolve }: Pick<GraphQLField<unknown, unknown>, 'resolve'>): Mark | undefined {
  return resolve && marks.get(resolverBehind(resolve))
}
