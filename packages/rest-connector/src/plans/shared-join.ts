import type { ExecutionArgs, FieldNode, GraphQLField, OperationDefinitionNode } from 'graphql'
import type { Variables } from './coerce-variables.ts'
import type { SelectionScope } from './collect-fields.ts'
import type { Executor } from './plain-executor.ts'
import type { JsonText } from './share.ts'
import { Unplannable } from './unplannable.ts'

/** Plans a field that its source joins to the objects of another kind of source. @throws Unplannable */
export type PlanJoin = (
  scope: SelectionScope,
  operation: OperationDefinitionNode,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
) => SharedJoin

/** A joined field that an operation selects. */
export interface SharedJoin {
  /** The parent's field that is its key. */
  readonly parentKey: string
  start(variables: Variables, args: ExecutionArgs): StartedJoin
}

export interface StartedJoin {
  /**
   * The JSON of the field for each key; null: the parent has none. Makes one batch of calls. Rejects, with an `Unsure` or
   * what a call failed with, where it is not for a plan to say.
   */
  load(keys: readonly (string | null)[]): Promise<readonly JsonText[]>
  /** Ends it. Executes with resolvers that take what was called, instead of calling again. */
  replay(args: ExecutionArgs, execute: Executor): unknown
}

/** The name is agreed between sources that know nothing else of each other. */
const JOIN = Symbol.for('@vinyasa/joined field of an operation')

/** Lets the plans of other kinds of sources take in a joined field, without its resolver. */
export function offerJoin<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  plan: PlanJoin,
): Resolver {
  return Object.defineProperty(resolve, JOIN, { value: { resolve, plan } })
}

/**
 * A field of this kind, planned by its source; undefined where it is none, or where another plugin has put a resolver of
 * its own there. @throws Unplannable
 */
export function planSharedJoin(
  scope: SelectionScope,
  operation: OperationDefinitionNode,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): SharedJoin | undefined {
  const offer = (
    field.resolve as { readonly [JOIN]?: { readonly resolve: unknown; readonly plan: PlanJoin } } | undefined
  )?.[JOIN]
  if (!offer || offer.resolve !== field.resolve) return undefined
  return offer.plan(scope, operation, field, nodes)
}

/**
 * Says who loads a joined field. In ordinary execution all places of an operation where it is selected may share calls,
 * so there can be one only. @throws Unplannable
 */
export function claimJoin(
  { joinedBy }: SelectionScope,
  field: GraphQLField<unknown, unknown>,
  by: object,
): void {
  if ((joinedBy.get(field) ?? by) !== by) throw new Unplannable(`${field.name} is joined at two places`)
  joinedBy.set(field, by)
}
