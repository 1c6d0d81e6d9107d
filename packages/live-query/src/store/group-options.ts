import type { GraphQLError } from 'graphql'
import type { Clock } from '@vinyasa/base'
import type { LivePlan } from '../document/live-plan.ts'
import type { EntityFinder } from '../triggers/identifiers.ts'
import type { Timing } from './schedule.ts'
import type { Subscriber } from './subscriber.ts'

export interface GroupOptions {
  readonly plan: LivePlan
  readonly timing: Timing
  /** Given where events with an id concern only those who hold it. */
  readonly entities: EntityFinder | undefined
  readonly shared: boolean
  /** How many events there were, whether they hit the group or not. */
  readonly seenEvents: () => number
  readonly skipUnchanged: boolean
  /** See `LiveQueryStoreOptions.maxFailures`. */
  readonly maxFailures: number
  readonly joinWindowMs: number
  readonly changedFieldsDepth: number
  readonly clock: Clock
  readonly random: () => number
  readonly onError: (error: unknown) => void
  /** Has a run begin: at once, or in a later turn of the event loop where many begin. */
  readonly begin: (start: () => void) => void
  readonly onRun: () => void
  /** The group ends subscriptions, by default all that it has. */
  readonly onEnd: (errors: readonly GraphQLError[], members?: Iterable<Subscriber>) => void
}
