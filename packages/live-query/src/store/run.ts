import type { Subscriber } from './subscriber.ts'
import type { LiveResult } from './version.ts'

/** Executes the query once. Rejecting with `EndLiveQuery` ends the subscriptions; any other failure is delivered. */
export type LiveQueryExecute = (run: LiveQueryRun) => Promise<LiveResult>

export interface LiveQueryRun {
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal
  /** The group's first execution. */
  readonly first: boolean
  /** For whom it is; undefined where that is more than one client, or nobody knows. */
  readonly client: string | undefined
}

/** One execution of a group, while it is under way. */
export interface Run {
  readonly controller: AbortController
  readonly beganAt: number
  readonly seenEvents: number
  readonly first: boolean
  /** Events that this run stands for; 0 when it was not events that caused it. */
  readonly events: number
  readonly polled: boolean
  readonly joiners: Set<Subscriber>
}

/** The one client of all members; undefined where they are of several. */
export function onlyClient(members: Iterable<{ readonly client: string | undefined }>): string | undefined {
  let only: string | undefined
  for (const { client } of members) {
    if (only !== undefined && client !== only) return undefined
    only = client
  }
  return only
}
