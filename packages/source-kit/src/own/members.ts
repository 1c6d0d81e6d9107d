import { defaultFieldResolver, type GraphQLField, type GraphQLFieldResolver } from 'graphql'
import { ResolverMarks } from './stand-ins.ts'

type Resolver = (...args: never[]) => unknown

/** By the resolver that reads the member. */
const members = new ResolverMarks<string>()

/** Says that a resolver does no more than read, and check, a member of its parent. */
export function markMember<Own extends Resolver>(resolver: Own, key: string): Own {
  return members.mark(resolver, key)
}

/** The member of the parent that a field shows; undefined where it is resolved in any other way. */
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
