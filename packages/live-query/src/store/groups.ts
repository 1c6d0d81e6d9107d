import type { GraphQLError } from 'graphql'
import type { InvalidationEvent } from '@vinyasa/invalidation'
import type { LivePlan } from '../document/live-plan.ts'
import type { BatchOptions } from '../options.ts'
import { TriggerIndex } from '../triggers/trigger-index.ts'
import { isResync } from '../triggers/triggers.ts'
import { Beginnings } from '../turns/beginnings.ts'
import { Group } from './group.ts'
import type { GroupOptions } from './group-options.ts'
import type { LiveQueryRegistration } from './registration.ts'
import type { Timing } from './schedule.ts'
import type { Subscriber } from './subscriber.ts'

/** Who joins takes a clean result that is less old, instead of running the query again. */
const JOIN_WINDOW_MS = 1000

/** The options that all groups of a store have alike. */
type CommonOptions = Pick<
  GroupOptions,
  'skipUnchanged' | 'maxFailures' | 'changedFieldsDepth' | 'clock' | 'random' | 'onError'
>

export interface GroupsOptions {
  readonly batch: BatchOptions
  readonly matchEntityId: boolean
  readonly common: CommonOptions
  /** A group ends subscriptions. */
  readonly onEnd: (members: Iterable<Subscriber>, errors: readonly GraphQLError[]) => void
}

/** The groups of a store by their keys, and which of them an event hits. */
export class Groups {
  readonly #options: GroupsOptions
  readonly #byKey = new Map<string, Group>()
  readonly #index = new TriggerIndex<Group>()
  readonly #operations = new WeakMap<Group, string>()
  readonly #beginnings = new Beginnings()
  #executions = 0
  #events = 0

  constructor(options: GroupsOptions) {
    this.#options = options
  }

  counts(): { readonly groups: number; readonly executions: number; readonly events: number } {
    return { groups: this.#byKey.size, executions: this.#executions, events: this.#events }
  }

  /** The group of a key: a new one where there is none. */
  of(key: string, registration: LiveQueryRegistration): Group {
    return this.#byKey.get(key) ?? this.#create(key, registration)
  }

  /** Forgets the group of a key once it has no members. */
  forget(key: string, group: Group): void {
    if (group.size > 0) return
    this.#byKey.delete(key)
    this.#index.remove(group, group.plan.triggers)
  }

  /** The events stand for one update. Returns the number of subscriptions that they match. */
  hit(events: readonly InvalidationEvent[]): number {
    this.#events += events.length
    const hitBy = this.#hitBy(events)
    // A gap hits everyone at once: run them over some time, not together.
    const spreadMs = Math.min(4000, hitBy.size * 10)
    const { random } = this.#options.common
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
    for (const event of events) {
      for (const group of this.#index.match(event)) {
        const others = hitBy.get(group)
        if (others) others.push(event)
        else hitBy.set(group, [event])
      }
    }
    return hitBy
  }

  /** Groups that ask the same follow each other: what their runs read at the same time they may share. */
  #sideBySide<Those>(hitBy: ReadonlyMap<Group, Those>): readonly (readonly [Group, Those])[] {
    const byOperation = new Map<string | Group, [Group, Those][]>()
    for (const one of hitBy) {
      const operation = this.#operations.get(one[0]) ?? one[0]
      const others = byOperation.get(operation)
      if (others) others.push(one)
      else byOperation.set(operation, [one])
    }
    return [...byOperation.values()].flat()
  }

  #create(key: string, registration: LiveQueryRegistration): Group {
    const { common, batch, matchEntityId, onEnd } = this.#options
    const { plan, operation, public: shared = false } = registration
    const group: Group = new Group({
      ...common,
      plan,
      timing: timingOf(plan, batch),
      entities: matchEntityId ? registration.entities?.() : undefined,
      shared,
      joinWindowMs:
        plan.strategy === 'INVALIDATION' ? JOIN_WINDOW_MS : Math.min(JOIN_WINDOW_MS, plan.pollIntervalMs),
      seenEvents: () => this.#events,
      begin: (start) => this.#beginnings.add(start),
      onRun: () => void this.#executions++,
      onEnd: (errors, members = group.members) => onEnd(members, errors),
    })
    this.#byKey.set(key, group)
    if (operation !== undefined) this.#operations.set(group, operation)
    this.#index.add(group, plan.triggers)
    return group
  }
}

function timingOf(plan: LivePlan, batch: BatchOptions): Timing {
  const { enabled = plan.throttleMs > 0, debounceMs = 50, maxBatchSize = 100, maxWaitMs = 500 } = batch
  return { throttleMs: plan.throttleMs, batching: enabled, debounceMs, maxBatchSize, maxWaitMs }
}
