import { defaultFieldResolver, type GraphQLField, type GraphQLFieldResolver } from 'graphql'
import { ResolverMarks } from './stand-ins.ts'

type Resolver = (...args: never[]) => unknown

/** By the resolver that reads the member. */
const members = new ResolverMarks<string>()

/** Marks a resolver as one that only reads, and possibly checks, a property of its parent. Plans can then skip it. */
export function markMember<Own extends Resolver>(resolver: Own, key: string): Own {
  return members.mark(resolver, key)
}

/** Returns the property of the parent that a field returns. Returns `undefined` if the field has another resolver. */
export function memberOf(
  field: Pick<GraphQLField<unknown, unknown>, 'name' | 'resolve'>,
): string | undefined {
  if (field.resolve === undefined || field.resolve === defaultFieldResolver) return field.name
  return members.of(field)
}

/** graphql's default resolver, for a field that is not called as its member. */
export function memberReader(key: string): GraphQLFieldResolver<unknown, unknown> {
  const read: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
    const value = (source as Readonly<Record<string, unknown>>)[key]
    return typeof value === 'function' ? (value.call(source, args, context, info) as unknown) : value
  }
  return markMember(read, key)
}
