import type { Subscriber } from './subscriber.ts'

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
