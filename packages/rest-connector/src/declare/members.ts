import { markMember as markRead, memberOf, ResolverMarks } from '@vinyasa/source-kit'
import type { GraphQLField } from 'graphql'

/** A field of a response, under its key in the JSON. */
export interface ResponseMember {
  readonly key: string
  /** A scalar that may not be an object or a list in JSON. */
  readonly isScalar: boolean
}

/** Resolvers that give scalars alone. */
const scalars = new ResolverMarks<true>()

export function markMember<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  { key, isScalar }: ResponseMember,
): Resolver {
  if (isScalar) scalars.mark(resolve, true)
  return markRead(resolve, key)
}

/** The member that a field reads, unless another plugin has put a resolver of its own there. */
export function responseMember(
  field: Pick<GraphQLField<unknown, unknown>, 'name' | 'resolve'>,
): ResponseMember | undefined {
  const key = memberOf(field)
  if (key === undefined) return undefined
  return { key, isScalar: scalars.of(field) === true }
}
