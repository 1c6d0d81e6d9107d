import { ResolverMarks } from '../own/stand-ins.ts'
import type { SelectionScope } from './selection-scope.ts'
import type { FastPath, PreparedJoin, Selection } from './fast-path.ts'

type Resolver = (...args: never[]) => unknown

/** The resolvers that plans can do without: one table for all servers, since a resolver is one for all servers. */
export const fastPaths: ResolverMarks<FastPath> = new ResolverMarks()

/** Allows plans of all servers to execute the field of this resolver with a fast path. */
export function offerField(resolve: Resolver, path: FastPath): void {
  fastPaths.mark(resolve, path)
}

/**
 * Prepares a joined field of another kind of source with its fast path. Returns `undefined` if it has none.
 * @throws NotPlannable
 */
export function prepareJoin(selection: Selection, scope: SelectionScope): PreparedJoin | undefined {
  return fastPaths.of(selection.field)?.prepareJoin?.(selection, scope)
}
