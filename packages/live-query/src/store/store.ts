import type { InvalidationEvent } from '@vinyasa/invalidation'
import { atWallTime, type Holding, keyed, processLedger, systemClock, type WallTimer } from '@vinyasa/core'
import type { GraphQLError } from 'graphql'
import {
  liveQueryLimit,
  liveQueryMemory,
  LiveQueryStoreError,
  liveQueryUnauthenticated,
  refuseWrong,
  reportError,
} from '../errors.ts'
import { type LiveQueryStoreOptions, STORE_OPTIONS, type StoreSettings } from '../options.ts'
import { type LiveQueryRegistration, type LiveQuerySubscription, Subscriber } from './subscriber.ts'
import type { LivePlan } from '../document/live-plan.ts'
import { Group } from './group.ts'
import { isResync, TriggerIndex } from '../triggers/triggers.ts'
import type { Timing } from './schedule.ts'

/**
 * Number of runs that start in one tick of the event loop, which takes 2 to 3 ms. Their executions are scheduled
 * separately with a share for each client. The last of ten thousand runs waits for forty ticks.
 */
const AT_ONCE = 256

/** Starts the runs of an event in parts. Ten thousand runs in one tick would block all other work. */
class Beginnings {
  readonly #waiting: (() => void)[] = []
  #begun = 0

  /** Starts a run immediately or in a later tick. */
  add(start: () => void): void {
    if (this.#begun >= AT_ONCE) return void this.#waiting.push(start)
    if (this.#begun++ === 0) setImmediate(() => this.#nextTurn())
    start()
  }

  #nextTurn(): void {
    this.#begun = 0
    for (const start of this.#waiting.splice(0, AT_ONCE)) this.add(start)
  }
}

/** New subscribers receive a result without errors that is younger than this, instead of a new execution. */
const JOIN_WINDOW_MS = 1000

/** The groups of a store by key, with an index of their triggers. */
class Groups {
  readonly #settings: StoreSettings
  /** Called when a group ends subscriptions. */
  readonly #onEnd: (members: Iterable<Subscriber>, errors: readonly GraphQLError[]) => void
  readonly #byKey = new Map<string, Group>()
  readonly #index = new TriggerIndex<Group>()
  readonly #operations = new WeakMap<Group, string>()
  readonly #beginnings = new Beginnings()
  #executions = 0
  #events = 0

  constructor(
    settings: StoreSettings,
    onEnd: (members: Iterable<Subscriber>, errors: readonly GraphQLError[]) => void,
  ) {
    this.#settings = settings
    this.#onEnd = onEnd
  }

  counts(): { readonly groups: number; readonly executions: number; readonly events: number } {
    return { groups: this.#byKey.size, executions: this.#executions, events: this.#events }
  }

  /** Returns the group of a key, and creates it if necessary. */
  of(key: string, registration: LiveQueryRegistration): Group {
    return this.#byKey.get(key) ?? this.#create(key, registration)
  }

  /** Removes a group without members. */
  forget(key: string, group: Group): void {
    if (group.size > 0) return
    this.#byKey.delete(key)
    this.#index.remove(group, group.plan.triggers)
  }

  /** Receives the events of one update. Returns the number of matching subscriptions. */
  hit(events: readonly InvalidationEvent[]): number {
    this.#events += events.length
    const hitBy = this.#hitBy(events)
    // Missed events affect all groups, so their runs are spread over time.
    const spreadMs = Math.min(4000, hitBy.size * 10)
    const { random } = this.#settings
    let matching = 0
    for (const [group, those] of this.#sideBySide(hitBy)) {
      const named = those.filter((event) => !isResync(event))
      if (named.length < those.length) group.resync(hitBy.size > 1 ? random() * spreadMs : 0)
      const isHit = named.length > 0 && group.hit(named)
      if (isHit || named.length < those.length) matching += group.size
    }
    return matching
  }

  #hitBy(events: readonly InvalidationEvent[]): ReadonlyMap<Group, readonly InvalidationEvent[]> {
    const hitBy = new Map<Group, InvalidationEvent[]>()
    const eventsOf = keyed((): InvalidationEvent[] => [], hitBy)
    for (const event of events) for (const group of this.#index.match(event)) eventsOf(group).push(event)
    return hitBy
  }

  /** Orders groups so that equal operations are consecutive and can share backend calls. */
  #sideBySide<Those>(hitBy: ReadonlyMap<Group, Those>): readonly (readonly [Group, Those])[] {
    const byOperation = new Map<string | Group, [Group, Those][]>()
    const hitsOf = keyed((): [Group, Those][] => [], byOperation)
    for (const hit of hitBy) hitsOf(this.#operations.get(hit[0]) ?? hit[0]).push(hit)
    return [...byOperation.values()].flat()
  }

  #create(key: string, registration: LiveQueryRegistration): Group {
    const { batch, matchEntityId } = this.#settings
    const { plan, operation, public: shared = false } = registration
    const group: Group = new Group({
      ...this.#settings,
      plan,
      timing: timingOf(plan, batch),
      entities: matchEntityId ? registration.entities?.() : undefined,
      shared,
      joinWindowMs:
        plan.strategy === 'INVALIDATION' ? JOIN_WINDOW_MS : Math.min(JOIN_WINDOW_MS, plan.pollIntervalMs),
      seenEvents: () => this.#events,
      begin: (start) => this.#beginnings.add(start),
      onRun: () => void this.#executions++,
      onEnd: (errors, members = group.members) => this.#onEnd(members, errors),
    })
    this.#byKey.set(key, group)
    if (operation !== undefined) this.#operations.set(group, operation)
    this.#index.add(group, plan.triggers)
    return group
  }
}

function timingOf(plan: LivePlan, batch: StoreSettings['batch']): Timing {
  const { enabled = plan.throttleMs > 0, debounceMs = 50, maxBatchSize = 100, maxWaitMs = 500 } = batch
  return { throttleMs: plan.throttleMs, batching: enabled, debounceMs, maxBatchSize, maxWaitMs }
}

interface Entry {
  readonly subscription: LiveQuerySubscription
  readonly subscriber: Subscriber
  readonly group: Group
  readonly groupKey: string
  /** The timer of `ttlSeconds`. */
  readonly lifetime: unknown
  readonly expiry: WallTimer | undefined
  memory?: Holding
}

/** Memory of a subscription and its group, without its operation and results. */
const SUBSCRIPTION_BYTES = 4096

/** The live subscriptions of a store, with their limit and lifetimes. */
class Subscriptions {
  readonly #settings: StoreSettings
  readonly #groups: Groups
  readonly #entries = new Map<string, Entry>()
  readonly #perField = new Map<string, number>()
  #nextId = 1
  #isClosed = false

  constructor(settings: StoreSettings) {
    this.#settings = settings
    this.#groups = new Groups(settings, (members, errors) => this.#endAll(members, errors))
  }

  stats(): LiveQueryStats {
    return { subscriptions: this.#entries.size, ...this.#groups.counts() }
  }

  /** Receives the events of one update. Returns the number of matching subscriptions. */
  hit(events: readonly InvalidationEvent[]): number {
    return this.#groups.hit(events)
  }

  /** See `LiveQueryStore.register`. */
  add(registration: LiveQueryRegistration): LiveQuerySubscription {
    const { id = `live-${this.#nextId++}`, key, plan, execute, client, channel, bytes = 0 } = registration
    this.#check(id, plan)
    const groupKey = key ?? `own ${id}`
    const group = this.#groups.of(groupKey, registration)
    const subscriber = new Subscriber(id, channel, this.#settings.onError)
    const subscription: LiveQuerySubscription = { id, plan, flush: () => group.flush(subscriber) }
    const ends = this.#endsOf(id, registration)
    const entry: Entry = { subscription, subscriber, group, groupKey, ...ends }
    this.#entries.set(id, entry)
    this.#count(plan, 1)
    group.join(subscriber, { execute, client })
    const drop = (): void => this.#end(id, [liveQueryMemory()])
    entry.memory = processLedger().hold(client, SUBSCRIPTION_BYTES + bytes, drop)
    return subscription
  }

  /** Ends a subscription without a call to its channel. */
  leave(id: string): LiveQuerySubscription | undefined {
    const entry = this.#remove(id)
    entry?.subscriber.leave()
    return entry?.subscription
  }

  #endAll(members: Iterable<Subscriber>, errors: readonly GraphQLError[]): void {
    for (const member of Array.from(members)) {
      this.#remove(member.id)
      member.end(errors)
    }
  }

  /** Completes all subscriptions and accepts no further ones. */
  close(): void {
    this.#isClosed = true
    for (const id of this.#entries.keys()) this.#end(id)
  }

  #check(id: string, plan: LivePlan): void {
    if (this.#isClosed) {
      throw new LiveQueryStoreError('LIVE_QUERY_STORE_CLOSED', 'The live query store is closed.')
    }
    if (this.#entries.has(id)) {
      throw new LiveQueryStoreError(
        'LIVE_QUERY_DUPLICATE_ID',
        `The live query store already has a subscription with the id "${id}". Use another id.`,
      )
    }
    const { maxSubscriptions } = this.#settings
    if (this.#entries.size >= maxSubscriptions)
      throw liveQueryLimit('live queries on this server', maxSubscriptions)
    for (const [field, limit] of plan.maxConnections) {
      if ((this.#perField.get(field) ?? 0) >= limit)
        throw liveQueryLimit(`live queries that select "Query.${field}"`, limit)
    }
  }

  #count(plan: LivePlan, by: 1 | -1): void {
    const perField = this.#perField
    for (const field of plan.maxConnections.keys()) perField.set(field, (perField.get(field) ?? 0) + by)
  }

  /** Starts the timers that end a subscription. */
  #endsOf(
    id: string,
    { plan: { ttlSeconds }, expiresAt }: LiveQueryRegistration,
  ): Pick<Entry, 'lifetime' | 'expiry'> {
    const { clock } = this.#settings
    const lifetime = ttlSeconds > 0 ? clock.setTimeout(() => this.#end(id), ttlSeconds * 1000) : undefined
    const expire = (): void => this.#end(id, [liveQueryUnauthenticated()])
    return { lifetime, expiry: expiresAt === undefined ? undefined : atWallTime(clock, expiresAt, expire) }
  }

  #end(id: string, errors?: readonly GraphQLError[]): void {
    this.#remove(id)?.subscriber.end(errors)
  }

  #remove(id: string): Entry | undefined {
    const entry = this.#entries.get(id)
    if (!entry) return undefined
    const { group, groupKey, subscriber, subscription, lifetime, expiry, memory } = entry
    this.#entries.delete(id)
    this.#count(subscription.plan, -1)
    this.#settings.clock.clearTimeout(lifetime)
    expiry?.stop()
    memory?.release()
    group.leave(subscriber)
    this.#groups.forget(groupKey, group)
    return entry
  }
}

/** Specification: "The store reports statistics." */
interface LiveQueryStats {
  readonly subscriptions: number
  /** Number of distinct live queries, which subscriptions share. */
  readonly groups: number
  /** Number of executions since the store was created. */
  readonly executions: number
  readonly events: number
}

export interface LiveQueryStore {
  /**
   * Starts a live subscription. Throws a `GraphQLError` with code `LIVE_QUERY_LIMIT` if there are too many. Throws a
   * `LiveQueryStoreError` if the id is in use or the store is closed.
   */
  register(registration: LiveQueryRegistration): LiveQuerySubscription
  /** Ends a subscription without a call to its channel. Returns the subscription if it existed. */
  unregister(id: string): LiveQuerySubscription | undefined
  /**
   * Reports changes. Returns the number of matching subscriptions. Each event is a separate change. Identifiers of
   * `@n1ru4l/in-memory-live-query-store` (`Todo:1`, `Query.todos`) are one change together.
   */
  invalidate(events: InvalidationEvent | string | readonly (InvalidationEvent | string)[]): number
  stats(): LiveQueryStats
  /** Completes all subscriptions and accepts no further ones. */
  close(): void
}

export function createLiveQueryStore(options: LiveQueryStoreOptions = {}): LiveQueryStore {
  refuseWrong(options, STORE_OPTIONS)
  return openStore(options)
}

/** Creates a store from checked options. */
export function openStore(options: LiveQueryStoreOptions): LiveQueryStore {
  const { batch = {}, maxSubscriptions = 10_000, skipUnchanged = false } = options
  const { matchEntityId = false, changedFieldsDepth = 10, onError = reportError } = options
  const { clock = systemClock, random = Math.random } = options.platform ?? {}
  const limits = { maxSubscriptions, changedFieldsDepth }
  const settings = { ...limits, batch, skipUnchanged, matchEntityId, clock, random, onError }
  const subscriptions = new Subscriptions(settings)

  return {
    register: (registration) => subscriptions.add(registration),
    unregister: (id) => subscriptions.leave(id),
    invalidate(events) {
      const list = (Array.isArray(events) ? events : [events]) as readonly (InvalidationEvent | string)[]
      let matching = 0
      for (const event of list) if (typeof event !== 'string') matching += subscriptions.hit([event])
      const identifiers = list.filter((event) => typeof event === 'string')
      return matching + subscriptions.hit([...new Set(identifiers)].map(toEvent))
    },
    stats: () => subscriptions.stats(),
    close: () => subscriptions.close(),
  }
}

const ENTITY = /^([_A-Za-z]\w*):(.+)$/s
const FIELD = /^([_A-Za-z]\w*)\.([_A-Za-z]\w*)(\(.*\))?$/s

/**
 * Converts an identifier of `@n1ru4l/in-memory-live-query-store`: `Todo:1`, `Query.todos`, `Query.todos(first:"3")`.
 * Other identifiers match every event.
 */
export function toEvent(identifier: string): InvalidationEvent {
  const [, entityType, entityId] = ENTITY.exec(identifier) ?? []
  if (entityType && entityId) return { entityType, operation: 'update', entityId }
  const [, typeName, field, args] = FIELD.exec(identifier) ?? []
  // An index by arguments can belong to a field below the root, which only the schema can determine.
  if (typeName && field && (!args || typeName === 'Query')) return { entityType: typeName, operation: field }
  return { entityType: '*', operation: '*' }
}
