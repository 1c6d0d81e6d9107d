import {
  getOperationAST,
  type ExecutionArgs,
  type GraphQLResolveInfo,
  type OperationDefinitionNode,
} from 'graphql'
import type { ItemsByKey, PlannableJoin } from './planned-field.ts'

/** What the call of a join was asked, and the items it brought, by key. */
export interface RecordedJoin {
  readonly asked: ReadonlySet<string>
  readonly items: Promise<ItemsByKey>
}

/**
 * What the calls of a plan brought, for the ordinary execution that takes the plan's place: its resolvers take these
 * replies instead of calling again.
 */
export interface RecordedReplies {
  /** By the response name of the root field that asked for them. */
  readonly roots: ReadonlyMap<string | number, Promise<unknown>>
  readonly joins: ReadonlyMap<PlannableJoin, readonly RecordedJoin[]>
}

const REPLIES = Symbol.for('@vinyasa/rest-connector recorded replies')

interface RecordedOperation extends OperationDefinitionNode {
  readonly [REPLIES]?: RecordedReplies
}

/**
 * The replies travel in a copy of the operation, which every resolver of this one execution is given; they are added to
 * those that it has.
 */
export function withReplies(args: ExecutionArgs, { roots, joins }: RecordedReplies): ExecutionArgs {
  const operation: RecordedOperation | null | undefined = getOperationAST(args.document, args.operationName)
  const known = operation?.[REPLIES]
  const replies: RecordedReplies = {
    roots: new Map([...(known?.roots ?? []), ...roots]),
    joins: new Map([...(known?.joins ?? []), ...joins]),
  }
  const definitions = args.document.definitions.map((one) =>
    one === operation ? ({ ...operation, [REPLIES]: replies } as RecordedOperation) : one,
  )
  return { ...args, document: { ...args.document, definitions } }
}

export function recordedRoot({ operation, path }: GraphQLResolveInfo): Promise<unknown> | undefined {
  return path.prev === undefined ? (operation as RecordedOperation)[REPLIES]?.roots.get(path.key) : undefined
}

export function recordedJoin(
  join: PlannableJoin,
  key: string,
  { operation }: GraphQLResolveInfo,
): Promise<ItemsByKey> | undefined {
  const calls = (operation as RecordedOperation)[REPLIES]?.joins.get(join)
  return calls?.find(({ asked }) => asked.has(key))?.items
}
