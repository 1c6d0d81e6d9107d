import type { LivePlan } from '../document/live-plan.ts'
import type { EntityFinder } from '../triggers/identifiers.ts'
import type { LiveQueryChannel } from './subscriber.ts'
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

/** One live subscription, as `register` takes it. */
export interface LiveQueryRegistration {
  /** Unique in the store. Default: a new one. */
  readonly id?: string | undefined
  /** Registrations with an equal key share one execution; `null` shares with nobody. */
  readonly key: string | null
  /** What is asked, whoever asks: an event runs registrations with an equal one next to each other. Default: each its own. */
  readonly operation?: string | undefined
  readonly plan: LivePlan
  /** The result depends on no header, so anyone may keep it. Default `false`. */
  readonly public?: boolean | undefined
  /** Ends it with `UNAUTHENTICATED` at this time, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined
  readonly execute: LiveQueryExecute
  /** Memory that `execute` keeps for as long as the subscription lives. Default 0. */
  readonly bytes?: number | undefined
  /** The client that asks, for `LiveQueryRun.client`. */
  readonly client?: string | undefined
  /** Needed where the store has `matchEntityId`. */
  readonly entities?: (() => EntityFinder) | undefined
  readonly channel: LiveQueryChannel
}

export interface LiveQuerySubscription {
  readonly id: string
  readonly plan: LivePlan
  /** The channel can take updates again. */
  flush(): void
}
