import { GraphQLError, type GraphQLFieldResolver, type GraphQLResolveInfo } from 'graphql'
import { isJoinKey, type ReadParent } from './parent-key.ts'

type Values = Readonly<Record<string, unknown>>

/**
 * Creates a resolver that makes one call per parent. It returns null if the parent has no key, or if the call fails
 * with the code `NOT_FOUND`.
 */
export function createSingleJoin(
  bound: ReadonlyMap<string, ReadParent>,
  call: (values: Values, context: unknown, info: GraphQLResolveInfo) => Promise<unknown>,
): GraphQLFieldResolver<unknown, unknown, Values> {
  return async (parent, args, context, info) => {
    const values: Record<string, unknown> = { ...args }
    for (const [name, read] of bound) {
      const value = await read(parent, context, info)
      if (!isJoinKey(value)) return null
      values[name] = value
    }
    try {
      return await call(values, context, info)
    } catch (error) {
      if (error instanceof GraphQLError && error.extensions['code'] === 'NOT_FOUND') return null
      throw error
    }
  }
}
