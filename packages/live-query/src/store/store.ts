import type { GraphQLError } from 'graphql'
import type { InvalidationEvent } from '@vinyasa/invalidation'
import { atWallTime, systemClock, type WallTimer } from '@vinyasa/base'
import { LiveQueryStoreError, liveQueryLimit, liveQueryUnauthenticated } from '../errors.ts'
import { Group } from './group.ts'
import type { LiveQueryExecute } from './run.ts'
import type { EntityFinder } from '../triggers/identifiers.ts'
import type { LivePlan } from '../document/live-plan.ts'
import type { LiveQueryStoreOptions } from '../options.ts'
import type { Timing } from './schedule.ts'
import { Subscriber, type LiveQueryChannel } from './subscriber.ts'
import { TriggerIndex } from '../triggers/trigger-index.ts'
import { toEvent } from '../triggers/resource-identifier.ts'
import { isResync } from '../triggers/triggers.ts'

/** One live subscription, as `register` takes it. */
export interface LiveQueryRegistration {
  /** Unique in the store. Default: a new one. */
  readonly id?: string | undefined
  /** Registrations with an equal key share one execution; `null` shares with nobody. */
  readonly key: string | null
  readonly plan: LivePlan
  /** The result depends on no header, so anyone may keep it. Default `false`. */
  readonly public?: boolean | undefined
  /** Ends it with `UNAUTHENTICATED` at this time, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined
  readonly execute: LiveQueryExecute
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

interface Entry {
  readonly subscription: LiveQuerySubscription
  readonly subscriber: Subscriber
  readonly group: Group
  readonly groupKey: string
  /** The timer of its `ttlSeconds`. */
  readonly lifetime: unknown
  readonly expiry: WallTimer | undefined
}

export function createLiveQueryStore(options: LiveQueryStoreOptions = {}): LiveQueryStore {
  const { batch = {}, maxSubscriptions = 10_000, joinWindowMs = 1000, skipUnchanged = false } = options
  const { matchEntityId = false, maxFailures = 20 } = options
  const {
    changedFieldsDepth = 10,
    clock = systemClock,
    random = Math.random,
    onError = reportError,
  } = options
  const entries = new Map<string, Entry>()
  const groups = new Map<string, Group>()
  const index = new TriggerIndex<Group>()
  const perField = new Map<string, number>()
  let nextId = 1
  let executions = 0
  let seenEvents = 0
  let closed = false

  function timingOf(plan: LivePlan): Timing {
    const { enabled = plan.throttleMs > 0, debounceMs = 50, maxBatchSize = 100, maxWaitMs = 500 } = batch
    return { throttleMs: plan.throttleMs, batching: enabled, debounceMs, maxBatchSize, maxWaitMs }
  }

  function createGroup(key: string, registration: LiveQueryRegistration): Group {
    const { plan, public: shared = false } = registration
    const group = new Group({
      plan,
      timing: timingOf(plan),
      entities: matchEntityId ? registration.entities?.() : undefined,
      shared,
      seenEvents: () => seenEvents,
      skipUnchanged,
      maxFailures,
      joinWindowMs: Math.min(joinWindowMs, plan.strategy === 'INVALIDATION' ? Infinity : plan.pollIntervalMs),
      changedFieldsDepth,
      clock,
      random,
      onError,
      onRun: () => void executions++,
      onEnd: (errors) => endGroup(group, errors),
    })
    groups.set(key, group)
    index.add(group, plan.triggers)
    return group
  }

  function endGroup(group: Group, errors: readonly GraphQLError[]): void {
    for (const member of Array.from(group.members)) {
      remove(member.id)
      member.end(errors)
    }
  }

  function checkLimits(plan: LivePlan): void {
    if (entries.size >= maxSubscriptions) throw liveQueryLimit('of this server', maxSubscriptions)
    for (const [field, limit] of plan.maxConnections) {
      if ((perField.get(field) ?? 0) >= limit) throw liveQueryLimit(`of "Query.${field}"`, limit)
    }
  }

  function count(plan: LivePlan, by: 1 | -1): void {
    for (const field of plan.maxConnections.keys()) perField.set(field, (perField.get(field) ?? 0) + by)
  }

  function remove(id: string): Entry | undefined {
    const entry = entries.get(id)
    if (!entry) return undefined
    const { group, groupKey, subscriber, subscription, lifetime, expiry } = entry
    entries.delete(id)
    count(subscription.plan, -1)
    clock.clearTimeout(lifetime)
    expiry?.stop()
    group.leave(subscriber)
    if (group.size === 0) {
      groups.delete(groupKey)
      index.remove(group, group.plan.triggers)
    }
    return entry
  }

  function finish(id: string, errors?: readonly GraphQLError[]): void {
    remove(id)?.subscriber.end(errors)
  }

  /** The events stand for one update. */
  function invalidateTogether(events: readonly InvalidationEvent[]): number {
    seenEvents += events.length
    const hitBy = new Map<Group, InvalidationEvent[]>()
    for (const event of events) {
      for (const group of index.match(event)) {
        const others = hitBy.get(group)
        if (others) others.push(event)
        else hitBy.set(group, [event])
      }
    }
    // A gap hits everyone at once: run them over some time, not together.
    const spreadMs = Math.min(4000, hitBy.size * 10)
    let matching = 0
    for (const [group, those] of hitBy) {
      const named = those.filter((event) => !isResync(event))
      if (named.length < those.length) group.resync(hitBy.size > 1 ? random() * spreadMs : 0)
      const isHit = named.length > 0 && group.hit(named)
      if (isHit || named.length < those.length) matching += group.size
    }
    return matching
  }

  return {
    register(registration) {
      const { id = `live-${nextId++}`, key, plan, expiresAt, execute, client, channel } = registration
      if (closed) throw new LiveQueryStoreError('LIVE_QUERY_STORE_CLOSED', 'The live query store is closed.')
      if (entries.has(id)) {
        throw new LiveQueryStoreError(
          'LIVE_QUERY_DUPLICATE_ID',
          `A subscription "${id}" is registered already.`,
        )
      }
      checkLimits(plan)
      const groupKey = key ?? `own ${id}`
      const group = groups.get(groupKey) ?? createGroup(groupKey, registration)
      const subscriber = new Subscriber({ id, channel, withChangedFields: changedFieldsDepth > 0, onError })
      const subscription: LiveQuerySubscription = { id, plan, flush: () => group.flush(subscriber) }
      const lifetime =
        plan.ttlSeconds > 0 ? clock.setTimeout(() => finish(id), plan.ttlSeconds * 1000) : undefined
      const end = (): void => finish(id, [liveQueryUnauthenticated()])
      const expiry = expiresAt === undefined ? undefined : atWallTime(clock, expiresAt, end)
      entries.set(id, { subscription, subscriber, group, groupKey, lifetime, expiry })
      count(plan, 1)
      group.join(subscriber, { execute, client })
      return subscription
    },
    unregister(id) {
      const entry = remove(id)
      entry?.subscriber.leave()
      return entry?.subscription
    },
    invalidate(events) {
      const list = (Array.isArray(events) ? events : [events]) as readonly (InvalidationEvent | string)[]
      let matching = 0
      for (const event of list) if (typeof event !== 'string') matching += invalidateTogether([event])
      const identifiers = list.filter((event) => typeof event === 'string')
      return matching + invalidateTogether([...new Set(identifiers)].map(toEvent))
    },
    stats: () => ({ subscriptions: entries.size, groups: groups.size, executions, events: seenEvents }),
    close() {
      closed = true
      for (const id of entries.keys()) finish(id)
    },
  }
}

function reportError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] live query:', error)
}
