import type { GraphQLField } from 'graphql'
import { ResolverMarks } from '../own/stand-ins.ts'
import type { SelectionScope } from './selection-scope.ts'
import type { FastPath, PreparedJoin, Selection } from './fast-path.ts'

type Resolver = (...args: never[]) => unknown

/** The resolvers that plans can do without: one table for all servers, since a resolver is one for all servers. */
const paths = new ResolverMarks<FastPath>()

/** Allows plans of all servers to execute the field of this resolver with a fast path. */
export function offerField(resolve: Resolver, path: FastPath): void {
  paths.mark(resolve, path)
}

/** Undefined where the field has no fast path, or another plugin has put a resolver of its own there. */
export function fastPathOf(field: GraphQLField<unknown, unknown>): FastPath | undefined {
  return paths.of(field)
}

/**
 * Prepares a joined field of another kind of source with its fast path. Returns `undefined` if it has none.
 * @throws NotPlannable
 */
export function prepareJoin(selection: Selection, scope: SelectionScope): PreparedJoin | undefined {
  return fastPathOf(selection.field)?.prepareJoin?.(selection, scope)
}
