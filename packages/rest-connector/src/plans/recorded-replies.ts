import type { GraphQLResolveInfo } from 'graphql'
import type { ItemsByKey, PlannableJoin } from './planned-field.ts'

/** What the call of a join was asked, and the items it brought, by key. */
export interface RecordedJoin {
  readonly asked: ReadonlySet<string>
  readonly items: Promise<ItemsByKey>
}

export interface Replies {
  /** By the response name of the root field that asked for them. */
  readonly roots: ReadonlyMap<string | number, Promise<unknown>>
  readonly joins: ReadonlyMap<PlannableJoin, RecordedJoin>
}

/**
 * What the calls of a plan brought, kept for the ordinary execution that takes the plan's place: its resolvers take
 * these replies instead of calling again.
 */
export interface RecordedReplies {
  /** Keeps the replies for what `execute` resolves with this context. */
  during<T>(context: object, replies: Replies, execute: () => T): T
  root(context: unknown, info: GraphQLResolveInfo): Promise<unknown> | undefined
  join(join: PlannableJoin, info: GraphQLResolveInfo): RecordedJoin | undefined
}

const byContext = new WeakMap<object, Replies>()
/** By the coerced variables, which are made anew for every execution: joins are resolved after `execute` returned. */
const byExecution = new WeakMap<object, Replies>()

export const recordedReplies: RecordedReplies = {
  // Executors call the resolvers of a query's root fields before they return.
  during(context, replies, execute) {
    byContext.set(context, replies)
    try {
      return execute()
    } finally {
      byContext.delete(context)
    }
  },
  root(context, info) {
    const replies = typeof context === 'object' && context !== null ? byContext.get(context) : undefined
    if (!replies || info.path.prev !== undefined) return undefined
    byExecution.set(info.variableValues, replies)
    return replies.roots.get(info.path.key)
  },
  join: (join, info) => byExecution.get(info.variableValues)?.joins.get(join),
}
