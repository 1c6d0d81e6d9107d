import type { GraphQLResolveInfo } from 'graphql'

/** Replies by the response name of the root field that asked for them. */
export type RepliesByField = ReadonlyMap<string | number, Promise<Uint8Array>>

/**
 * What the calls of a plan brought, kept for the ordinary execution that takes the plan's place: its resolvers take
 * these replies instead of calling again.
 */
export interface RecordedReplies {
  /** Keeps the replies for root fields that `execute` resolves with this context. */
  during<T>(context: object, replies: RepliesByField, execute: () => T): T
  take(context: unknown, info: GraphQLResolveInfo): Promise<Uint8Array> | undefined
}

export function createRecordedReplies(): RecordedReplies {
  const byContext = new WeakMap<object, RepliesByField>()
  return {
    // Executors call the resolvers of a query's root fields before they return.
    during(context, replies, execute) {
      byContext.set(context, replies)
      try {
        return execute()
      } finally {
        byContext.delete(context)
      }
    },
    take(context, info) {
      const replies = typeof context === 'object' && context !== null ? byContext.get(context) : undefined
      return replies && info.path.prev === undefined ? replies.get(info.path.key) : undefined
    },
  }
}
