import type { GraphQLError } from 'graphql'
import { atWallTime, type Clock, type Holding, processLedger, type WallTimer } from '@vinyasa/base'
import type { LivePlan } from '../document/live-plan.ts'
import { LiveQueryStoreError, liveQueryLimit, liveQueryMemory, liveQueryUnauthenticated } from '../errors.ts'
import type { Group } from './group.ts'
import type { Groups } from './groups.ts'
import type { LiveQueryRegistration, LiveQuerySubscription } from './registration.ts'
import { Subscriber } from './subscriber.ts'

export interface SubscriptionsOptions {
  readonly groups: Groups
  readonly maxSubscriptions: number
  readonly withChangedFields: boolean
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

interface Entry {
  readonly subscription: LiveQuerySubscription
  readonly subscriber: Subscriber
  readonly group: Group
  readonly groupKey: string
  /** The timer of its `ttlSeconds`. */
  readonly lifetime: unknown
  readonly expiry: WallTimer | undefined
  memory?: Holding
}

/** Memory of a subscription and its group, without what its operation and its results take. */
const SUBSCRIPTION_BYTES = 4096

/** The live subscriptions of a store: how many there may be, and how long each lives. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #entries = new Map<string, Entry>()
  readonly #perField = new Map<string, number>()
  #nextId = 1
  #isClosed = false

  constructor(options: SubscriptionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** See `LiveQueryStore.register`. */
  add(registration: LiveQueryRegistration): LiveQuerySubscription {
    const { groups, withChangedFields, onError } = this.#options
    const { id = `live-${this.#nextId++}`, key, plan, execute, client, channel, bytes = 0 } = registration
    this.#check(id, plan)
    const groupKey = key ?? `own ${id}`
    const group = groups.of(groupKey, registration)
    const subscriber = new Subscriber({ id, channel, withChangedFields, onError })
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

  /** Ends one without a word to its channel. */
  leave(id: string): LiveQuerySubscription | undefined {
    const entry = this.#remove(id)
    entry?.subscriber.leave()
    return entry?.subscription
  }

  /** Ends these. */
  endAll(members: Iterable<Subscriber>, errors: readonly GraphQLError[]): void {
    for (const member of Array.from(members)) {
      this.#remove(member.id)
      member.end(errors)
    }
  }

  /** Completes all, and takes no more. */
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
    const { maxSubscriptions } = this.#options
    if (this.size >= maxSubscriptions) throw liveQueryLimit('live queries on this server', maxSubscriptions)
    for (const [field, limit] of plan.maxConnections) {
      if ((this.#perField.get(field) ?? 0) >= limit)
        throw liveQueryLimit(`live queries that select "Query.${field}"`, limit)
    }
  }

  #count(plan: LivePlan, by: 1 | -1): void {
    const perField = this.#perField
    for (const field of plan.maxConnections.keys()) perField.set(field, (perField.get(field) ?? 0) + by)
  }

  /** The timers that end a subscription. */
  #endsOf(
    id: string,
    { plan: { ttlSeconds }, expiresAt }: LiveQueryRegistration,
  ): Pick<Entry, 'lifetime' | 'expiry'> {
    const { clock } = this.#options
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
    this.#options.clock.clearTimeout(lifetime)
    expiry?.stop()
    memory?.release()
    group.leave(subscriber)
    this.#options.groups.forget(groupKey, group)
    return entry
  }
}
