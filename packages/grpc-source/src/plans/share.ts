import type { ExecutionArgs, FieldNode, GraphQLField, OperationDefinitionNode } from 'graphql'
import type { Variables } from './coerce-variables.ts'
import type { SelectionScope } from './collect-fields.ts'
import type { Executor } from './plain-executor.ts'

/** A root field of a query, as an operation selects it. */
export interface SelectedField {
  /** The response name. */
  readonly key: string
  readonly field: GraphQLField<unknown, unknown>
  readonly nodes: readonly FieldNode[]
}

/** In UTF-8 where it is bytes. */
export type JsonText = string | Buffer

/** Plans the root fields that an operation takes from one kind of source. @throws Unplannable */
export type PlanShare = (
  scope: SelectionScope,
  operation: OperationDefinitionNode,
  fields: readonly SelectedField[],
) => Share

/** The fields that an operation takes from one kind of source. */
export interface Share {
  start(variables: Variables, args: ExecutionArgs): StartedShare
  /** For a single field: writes the text around it too, which spares putting the two together. */
  whole?(before: string, after: string): Share
}

export interface StartedShare {
  /** The JSON of each field. Rejects, with an `Unsure` or what a call failed with, where it is not for a plan to say. */
  readonly json: Promise<readonly JsonText[]>
  /** Executes with resolvers that take what was called, instead of calling again. */
  replay(args: ExecutionArgs, execute: Executor): unknown
}

/** The name is agreed between sources that know nothing else of each other. */
const SHARE = Symbol.for('@vinyasa/share of an operation')

/** Lets the plans of any source take in a root field, without its resolver. */
export function offerShare<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  plan: PlanShare,
): Resolver {
  return Object.defineProperty(resolve, SHARE, { value: { resolve, plan } })
}

/** Undefined where another plugin has put a resolver of its own there. */
export function shareOf({ resolve }: GraphQLField<unknown, unknown>): PlanShare | undefined {
  const found = (
    resolve as { readonly [SHARE]?: { readonly resolve: unknown; readonly plan: PlanShare } } | undefined
  )?.[SHARE]
  return found?.resolve === resolve ? found?.plan : undefined
}
