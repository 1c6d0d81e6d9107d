import type { GraphQLAbstractType } from 'graphql'

/** The name of the object type that a value is of; undefined where ordinary execution says what is wrong with it. */
export type Teller = (value: unknown) => string | undefined

/** By the function that resolves the type: a wrapper of it is another one, and says whatever it likes. */
const tellers = new WeakMap<object, Teller>()

/** Says that the type of a value is told by the value alone, at once: plans tell it so. */
export function markTeller<Own extends (...args: never[]) => unknown>(resolveType: Own, tell: Teller): Own {
  tellers.set(resolveType, tell)
  return resolveType
}

/** Undefined where a type resolves its values in any other way. */
export function tellerOf({ resolveType }: Pick<GraphQLAbstractType, 'resolveType'>): Teller | undefined {
  return resolveType ? tellers.get(resolveType) : undefined
}
