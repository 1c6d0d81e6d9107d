import { isPromise } from '@vinyasa/core'
import { GraphQLError, GraphQLInt, GraphQLString, type GraphQLScalarType } from 'graphql'

/** The scalars of GraphQL's own that another may be called as: where a value does not fit, it is an error at its place. */
const STANDING: readonly (readonly [standard: GraphQLScalarType, own: readonly string[]])[] = [
  [GraphQLInt, ['Long', 'UInt32']],
  [GraphQLString, ['Bytes']],
]

/** Returns the scalar of GraphQL's own that is meant where a source's scalar is called so; undefined: none. */
export function standardScalar(own: string, name: string): GraphQLScalarType | undefined {
  return STANDING.find(([standard, scalars]) => standard.name === name && scalars.includes(own))?.[0]
}

/** Says which scalars may be called so; nothing: none may. */
export function whatMayBe(name: string): string {
  const scalars = STANDING.find(([standard]) => standard.name === name)?.[1] ?? []
  return scalars.length === 0 ? '' : `; only the scalars ${scalars.join(' and ')} can have it`
}

/** A default as the scalar of GraphQL's own has it. @throws RangeError where that cannot hold it */
export function standardDefault(standard: GraphQLScalarType, value: unknown): unknown {
  if (standard !== GraphQLInt || value === null || value === undefined) return value
  const number = Number(value)
  if ((number | 0) === number) return number
  throw new RangeError(`${String(value)} is not a valid ${standard.name}`)
}

/** Makes a field's value one of the scalar that clients know: each part that does not fit is an error. */
export function standardValues(
  standard: GraphQLScalarType | undefined,
  place: string,
): ((value: unknown) => unknown) | undefined {
  if (standard !== GraphQLInt) return undefined
  const toValue = (value: unknown): unknown => {
    if (isPromise(value)) return value.then(toValue)
    if (Array.isArray(value)) {
      const list: readonly unknown[] = value
      const items = list.map(toValue)
      return items.some((item, index) => item !== list[index]) ? items : list
    }
    const isInteger = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string'
    if (!isInteger || (Number(value) | 0) === Number(value)) return value
    return new GraphQLError(
      `${place} has a value that is not a 32-bit integer, so the type Int cannot represent the value.`,
      {
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      },
    )
  }
  return toValue
}
