import type { GraphQLField } from 'graphql'

/** A field of a response, under its key in the JSON. */
export interface ResponseMember {
  readonly key: string
  /** A scalar that may not be an object or a list in JSON. */
  readonly isScalar: boolean
}

/** By the resolver that reads the member: a wrapper of it is another one, and reads whatever it likes. */
const members = new WeakMap<object, ResponseMember>()

export function markMember<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  member: ResponseMember,
): Resolver {
  members.set(resolve, member)
  return resolve
}

/** The member that a field's resolver reads, unless another plugin has put a resolver of its own there. */
export function responseMember({
  resolve,
}: Pick<GraphQLField<unknown, unknown>, 'resolve'>): ResponseMember | undefined {
  return resolve && members.get(resolve)
}
