import type { GraphQLField } from 'graphql'
import { resolverBehind } from '../own/stand-ins.ts'
import type { SelectionScope } from './selection-scope.ts'
import type { FastPath, PreparedJoin, Selection } from './fast-path.ts'

type Resolver = (...args: never[]) => unknown

/**
 * Which resolvers plans can do without. It is by the resolver itself: where another plugin has put one of its own in
 * place, the field is simply not known. One for all servers, since a resolver is one for all servers.
 */
const paths = new WeakMap<Resolver, FastPath>()

/** Lets the plans of any server take in the field of a resolver by a fast path. */
export function offerField(resolve: Resolver, path: FastPath): void {
  paths.set(resolve, path)
}

/** Undefined where the field has no fast path, or another plugin has put a resolver of its own there. */
export function fastPathOf({ resolve }: GraphQLField<unknown, unknown>): FastPath | undefined {
  return resolve && paths.get(resolverBehind(resolve))
}

/**
 * A joined field of another kind of source, prepared by its own fast path; undefined where it has none.
 * @throws NotPlannable
 */
export function prepareJoin(selection: Selection, scope: SelectionScope): PreparedJoin | undefined {
  return fastPathOf(selection.field)?.prepareJoin?.(selection, scope)
}
