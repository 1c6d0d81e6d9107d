import { markMember as markRead, memberOf, ResolverMarks } from '@vinyasa/source-kit'
import type { GraphQLField } from 'graphql'
import { type MemberPath, oneMember, type ReadMember } from './member-path.ts'

/** The part of an object of a response that a field shows. */
export interface ResponseMember {
  readonly read: ReadMember
  /** A scalar that may not be an object or a list in JSON. */
  readonly isScalar: boolean
}

/** The members that resolvers of our own read. */
const members = new ResolverMarks<ResponseMember>()

export function markMember<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  { name, read }: MemberPath,
  isScalar: boolean,
): Resolver {
  members.mark(resolve, { read, isScalar })
  return name === undefined ? resolve : markRead(resolve, name)
}

/** What a field reads, unless another plugin has put a resolver of its own there. */
export function responseMember(
  field: Pick<GraphQLField<unknown, unknown>, 'name' | 'resolve'>,
): ResponseMember | undefined {
  const own = members.of(field)
  if (own) return own
  const name = memberOf(field)
  return name === undefined ? undefined : { read: oneMember(name).read, isScalar: false }
}
