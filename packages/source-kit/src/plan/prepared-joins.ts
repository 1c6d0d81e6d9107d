import type { GraphQLField } from 'graphql'
import type { SelectionScope } from './collect-fields.ts'
import type { PreparedJoin, Selection } from './fast-path.ts'
import { NotPlannable } from './refusals.ts'
import { fastPathOf } from './registry.ts'

/**
 * A joined field of another kind of source, prepared by its own fast path; undefined where it has none.
 * @throws NotPlannable
 */
export function prepareJoin(selection: Selection, scope: SelectionScope): PreparedJoin | undefined {
  return fastPathOf(selection.field)?.prepareJoin?.(selection, scope)
}

/**
 * Says who loads a joined field. In ordinary execution all places of an operation where it is selected may share calls,
 * so there can be one only. @throws NotPlannable
 */
export function claimJoin(
  { joinedBy }: SelectionScope,
  field: GraphQLField<unknown, unknown>,
  by: object,
): void {
  if ((joinedBy.get(field) ?? by) !== by) throw new NotPlannable(`${field.name} is joined at two places`)
  joinedBy.set(field, by)
}
