import type { GraphQLField } from 'graphql'

type Resolver = (source: unknown) => unknown

/** Resolvers of messages without fields, which are Booleans: whether they are set. */
const flags = new WeakSet<object>()

export function flagResolver(name: string, isList: boolean): Resolver {
  const isSet = (value: unknown): boolean => value !== null && value !== undefined
  const resolve: Resolver = (source) => {
    const value = (source as Readonly<Record<string, unknown>>)[name]
    return isList && Array.isArray(value) ? value.map(isSet) : isSet(value) || null
  }
  flags.add(resolve)
  return resolve
}

/** Whether a field is such a flag, and nobody has put a resolver of his own there. */
export function isFlag({ resolve }: Pick<GraphQLField<unknown, unknown>, 'resolve'>): boolean {
  return resolve !== undefined && flags.has(resolve)
}
