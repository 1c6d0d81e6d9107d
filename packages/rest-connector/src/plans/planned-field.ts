import type { GraphQLField } from 'graphql'
import type { Call, FieldScope } from '../call.ts'
import type { Args } from '../template.ts'

const PLANNED = Symbol.for('@vinyasa/rest-connector planned field')

/** A root field that an endpoint answers. */
export interface PlannableEndpoint {
  readonly kind: 'endpoint'
  readonly call: Call
}

/** A field of a response, under its key in the JSON. */
export interface PlannableMember {
  readonly kind: 'member'
  readonly key: string
  /** A scalar that may not be an object or a list in JSON. */
  readonly isScalar: boolean
}

/** A field whose values one call brings for many parents. */
export interface PlannableJoin {
  readonly kind: 'join'
  /** The argument that takes the keys. */
  readonly arg: string
  /** The parent's field that is its key. */
  readonly parentField: string
  readonly many: boolean
  /** Keys that one call takes. */
  readonly maxSize: number
  /** Calls the endpoint; gives the items by their keys. */
  readonly load: LoadItems
}

export type ItemsByKey = ReadonlyMap<string, readonly unknown[]>
export type LoadItems = (keys: readonly unknown[], args: Args, scope: FieldScope) => Promise<ItemsByKey>

export type Mark = PlannableEndpoint | PlannableMember | PlannableJoin

/**
 * Marks a resolver as one that a plan can do without. The mark names the resolver itself, so that a wrapper which took
 * over its properties is not mistaken for it.
 */
export function markResolver<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  mark: Mark,
): Resolver {
  return Object.defineProperty(resolve, PLANNED, { value: { resolve, mark } })
}

/** The mark of a field's resolver, unless another plugin has put a resolver of its own there. */
export function markOf({ resolve }: Pick<GraphQLField<unknown, unknown>, 'resolve'>): Mark | undefined {
  const found = (
    resolve as { readonly [PLANNED]?: { readonly resolve: unknown; readonly mark: Mark } } | undefined
  )?.[PLANNED]
  return found?.resolve === resolve ? found?.mark : undefined
}
