import type { InvalidationEvent } from '@vinyasa/invalidation'
import { systemClock } from '@vinyasa/base'
import { refuseWrong, reportError } from '../errors.ts'
import { STORE_OPTIONS, type LiveQueryStoreOptions } from '../options.ts'
import { toEvent } from '../triggers/resource-identifier.ts'
import { Groups } from './groups.ts'
import type { LiveQueryRegistration, LiveQuerySubscription } from './registration.ts'
import { Subscriptions } from './subscriptions.ts'

/** Specification: "The store reports statistics." */
export interface LiveQueryStats {
  readonly subscriptions: number
  /** Executions shared by the subscriptions: how many distinct live queries there are. */
  readonly groups: number
  /** Since the store was created. */
  readonly executions: number
  readonly events: number
}

export interface LiveQueryStore {
  /**
   * Starts a live subscription. Throws a `GraphQLError` with code `LIVE_QUERY_LIMIT` when there are too many, and a
   * `LiveQueryStoreError` when the id is taken or the store is closed.
   */
  register(registration: LiveQueryRegistration): LiveQuerySubscription
  /** Ends a subscription without a word to its channel; returns it, if there was one. */
  unregister(id: string): LiveQuerySubscription | undefined
  /**
   * Says that something changed. Returns the number of matching subscriptions. Each event is a change of its own;
   * identifiers of `@n1ru4l/in-memory-live-query-store` (`Todo:1`, `Query.todos`) are one change together.
   */
  invalidate(events: InvalidationEvent | string | readonly (InvalidationEvent | string)[]): number
  stats(): LiveQueryStats
  /** Completes every subscription and takes no more. */
  close(): void
}

export function createLiveQueryStore(options: LiveQueryStoreOptions = {}): LiveQueryStore {
  refuseWrong(options, STORE_OPTIONS)
  return openStore(options)
}

/** The same, with options that have been looked at. */
export function openStore(options: LiveQueryStoreOptions): LiveQueryStore {
  const { batch = {}, maxSubscriptions = 10_000, skipUnchanged = false } = options
  const { matchEntityId = false, maxFailures = 20, changedFieldsDepth = 10 } = options
  const { clock = systemClock, random = Math.random, onError = reportError } = options
  const groups = new Groups({
    batch,
    matchEntityId,
    common: { skipUnchanged, maxFailures, changedFieldsDepth, clock, random, onError },
    onEnd: (members, errors) => subscriptions.endAll(members, errors),
  })
  const withChangedFields = changedFieldsDepth > 0
  const subscriptions = new Subscriptions({ groups, maxSubscriptions, withChangedFields, clock, onError })

  return {
    register: (registration) => subscriptions.add(registration),
    unregister: (id) => subscriptions.leave(id),
    invalidate(events) {
      const list = (Array.isArray(events) ? events : [events]) as readonly (InvalidationEvent | string)[]
      let matching = 0
      for (const event of list) if (typeof event !== 'string') matching += groups.hit([event])
      const identifiers = list.filter((event) => typeof event === 'string')
      return matching + groups.hit([...new Set(identifiers)].map(toEvent))
    },
    stats: () => ({ subscriptions: subscriptions.size, ...groups.counts() }),
    close: () => subscriptions.close(),
  }
}
