import type { GraphQLAbstractType } from 'graphql'

/** Returns the name of a value's object type. `undefined` leaves the error to graphql-js. */
export type Teller = (value: unknown) => string | undefined

/** By the function that resolves the type: a wrapper of it is another one, and says whatever it likes. */
const tellers = new WeakMap<object, Teller>()

/** Declares that a type resolver needs only the value and is synchronous, so that plans can call `tell` instead. */
export function markTeller<Own extends (...args: never[]) => unknown>(resolveType: Own, tell: Teller): Own {
  tellers.set(resolveType, tell)
  return resolveType
}

/** Returns the function that was declared for the type's resolver; `undefined` if there is none. */
export function tellerOf({ resolveType }: Pick<GraphQLAbstractType, 'resolveType'>): Teller | undefined {
  return resolveType ? tellers.get(resolveType) : undefined
}
