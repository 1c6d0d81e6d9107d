import type { LivePlan } from '../document/live-plan.ts'
import type { EntityFinder } from '../triggers/identifiers.ts'
import type { LiveQueryChannel } from './subscriber.ts'
import type { LiveResult } from './version.ts'

/** Executes the query once. A rejection with `EndLiveQuery` ends the subscriptions. Other errors are delivered. */
export type LiveQueryExecute = (run: LiveQueryRun) => Promise<LiveResult>

export interface LiveQueryRun {
  /** Aborts when no subscriber waits for the result. */
  readonly signal: AbortSignal
  /** Whether this is the first execution of the group. */
  readonly first: boolean
  /** The client of the run. `undefined` if there are several clients, or if the client is unknown. */
  readonly client: string | undefined
}

/** A live subscription for `register`. */
export interface LiveQueryRegistration {
  /** Unique in the store. Default: a new id. */
  readonly id?: string | undefined
  /** Registrations with equal keys share one execution. `null` disables sharing. */
  readonly key: string | null
  /** The operation without the caller. Runs of equal operations start consecutively. Default: a unique value. */
  readonly operation?: string | undefined
  readonly plan: LivePlan
  /** Whether the result depends on no header and is public. Default `false`. */
  readonly public?: boolean | undefined
  /** Time at which the subscription ends with `UNAUTHENTICATED`, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined
  readonly execute: LiveQueryExecute
  /** Bytes that `execute` keeps during the subscription. Default 0. */
  readonly bytes?: number | undefined
  /** The client, for `LiveQueryRun.client`. */
  readonly client?: string | undefined
  /** Required if the store has `matchEntityId`. */
  readonly entities?: (() => EntityFinder) | undefined
  readonly channel: LiveQueryChannel
}

export interface LiveQuerySubscription {
  readonly id: string
  readonly plan: LivePlan
  /** Must be called when the channel accepts updates again. */
  flush(): void
}
