import type { InvalidationEvent } from '@vinyasa/invalidation'
import { type Holding, processLedger } from '@vinyasa/core'
import { EndLiveQuery, liveQueryMemory, unexpectedError } from '../errors.ts'
import type { LivePlan } from '../document/live-plan.ts'
import type { StoreSettings } from '../options.ts'
import { backoffMs, eventsOfNextRun, jittered, nextRunAt, type Timing } from './schedule.ts'
import type { LiveQueryExecute, Subscriber } from './subscriber.ts'
import { type LiveResult, type Version, createVersion, formatError } from './version.ts'
import type { EntityFinder } from '../triggers/identifiers.ts'
import { GraphQLError, type GraphQLFormattedError } from 'graphql'

/** Error codes that the same request would get again, so that retries are useless. */
const LASTING = new Set([
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'FAILED_PRECONDITION',
  'NOT_IMPLEMENTED',
  'GRAPHQL_VALIDATION_FAILED',
])

/** Returns whether a result should be retried without an event, e.g. because a backend was unreachable. */
function isWorthRetrying(result: LiveResult): boolean {
  return result.errors?.some((error) => !LASTING.has(codeOf(error))) === true
}

/** Returns whether the result contains a value other than null. */
function bringsData({ data }: LiveResult): boolean {
  if (typeof data !== 'object' || data === null) return false
  return Object.values(data).some((value) => value !== null)
}

/** Returns the errors of a result for the end of a subscription. */
function toTerminalErrors({ errors = [] }: LiveResult): readonly GraphQLError[] {
  return errors.map((error) => {
    if (error instanceof GraphQLError) return error
    const { message, path, extensions } = error as GraphQLFormattedError
    return new GraphQLError(message, { path: path ?? null, extensions: extensions ?? null })
  })
}

function codeOf(error: unknown): string {
  const extensions = (error as { readonly extensions?: { readonly code?: unknown } } | null)?.extensions
  return typeof extensions?.code === 'string' ? extensions.code : ''
}

/** Returns the result for an execution that failed. */
function unexpectedResult(error: unknown): LiveResult {
  return { data: null, errors: [formatError(unexpectedError(error))] }
}

/** Maximum number of events that are kept during a run. If there are more, the run is repeated. */
const JOURNAL_SIZE = 256

/**
 * Number of consecutive failures after which a live query that never had data ends with the errors of its last
 * execution. Retries are 250 ms to 3 s apart, so they take about a minute.
 */
const MAX_FAILURES = 20

/**
 * Decides whether an event with an id affects a group, according to the last result. The result of a current run is
 * unknown, so events are kept in a journal until the run ends.
 */
class EntityMatch {
  readonly #finder: EntityFinder
  #held: Set<string> | undefined
  #journal: string[] = []

  constructor(finder: EntityFinder) {
    this.#finder = finder
  }

  /**
   * Returns whether an event affects the group. `running` means that the result of a current run can contain other
   * entities.
   */
  concerns({ entityType, operation, entityId }: InvalidationEvent, running: boolean): boolean {
    // A new entity is in no result yet, but can belong to every list.
    if (entityId === undefined || operation === 'create' || !this.#finder.identifies(entityType)) return true
    const entity = `${entityType}:${entityId}`
    if (this.#held?.has(entity)) return true
    if (!running) return this.#held === undefined
    if (this.#journal.length >= JOURNAL_SIZE) return true
    this.#journal.push(entity)
    return false
  }

  /** Ends a run. Returns whether an event during the run affected its result. */
  update(data: unknown, hasErrors: boolean): boolean {
    // A result with errors does not determine the entities of the query.
    this.#held = hasErrors ? undefined : this.#finder.entitiesIn(data)
    const held = this.#held
    const journal = this.#journal
    this.#journal = []
    return held ? journal.some((entity) => held.has(entity)) : journal.length > 0
  }
}

/** A subscriber with its execute function and its client. */
interface Member {
  readonly execute: LiveQueryExecute
  readonly client: string | undefined
}

/** Returns the client of all members, or `undefined` if there are several clients. */
function onlyClient(members: Iterable<Member>): string | undefined {
  let only: string | undefined
  for (const { client } of members) {
    if (only !== undefined && client !== only) return undefined
    only = client
  }
  return only
}

/** One running execution of a group. */
interface Run {
  readonly controller: AbortController
  readonly beganAt: number
  readonly seenEvents: number
  readonly first: boolean
  /** Number of events that caused this run. 0 means another cause. */
  readonly events: number
  readonly polled: boolean
  readonly joiners: Set<Subscriber>
}

export interface GroupOptions extends Pick<
  StoreSettings,
  'skipUnchanged' | 'changedFieldsDepth' | 'clock' | 'random' | 'onError'
> {
  readonly plan: LivePlan
  readonly timing: Timing
  /** Set if events with an id affect only results that contain the entity. */
  readonly entities: EntityFinder | undefined
  readonly shared: boolean
  /** Returns the number of all events, including events that do not affect the group. */
  readonly seenEvents: () => number
  readonly joinWindowMs: number
  /** Starts a run, immediately or in a later tick if many runs start. */
  readonly begin: (start: () => void) => void
  readonly onRun: () => void
  /** Ends subscriptions of the group. By default, it ends all of them. */
  readonly onEnd: (errors: readonly GraphQLError[], members?: Iterable<Subscriber>) => void
}

/**
 * Subscriptions that share one execution. One run is active at a time, and its result is always delivered. If an event
 * arrived after its start, another run follows. Updates therefore continue at any rate of events, and no event is lost.
 */
export class Group {
  readonly plan: LivePlan
  readonly #options: GroupOptions
  readonly #entities: EntityMatch | undefined
  readonly #members = new Map<Subscriber, Member>()
  #run: Run | undefined
  /** Subscribers that joined when the current run was not sufficient for them. */
  readonly #waiting = new Set<Subscriber>()
  #latest: Version | undefined
  #latestBeganAt = 0
  #latestSeenEvents = 0
  #events = 0
  #pending = { count: 0, firstAt: 0, lastAt: 0 }
  /** Time of the next run regardless of events: after missed events, after a failure, or for polling. */
  #resyncAt = Infinity
  #retryAt = Infinity
  #pollAt = Infinity
  #failures = 0
  #broughtData = false
  /** Whether the last result contained data and failures. */
  #isPartial = false
  #lastEmitAt = -Infinity
  #timer: unknown
  #timerAt = Infinity
  /** Whether a run is due and waits for its start. */
  #isToBegin = false
  #closed = false

  constructor(options: GroupOptions) {
    this.plan = options.plan
    this.#options = options
    this.#entities = options.entities && new EntityMatch(options.entities)
  }

  get size(): number {
    return this.#members.size
  }

  get members(): Iterable<Subscriber> {
    return this.#members.keys()
  }

  join(subscriber: Subscriber, member: Member): void {
    this.#members.set(subscriber, member)
    if (this.#run && this.#isCovered()) this.#run.joiners.add(subscriber)
    else if (!this.#run && this.#latest && this.#isFresh()) subscriber.offer(this.#latest)
    else this.#waiting.add(subscriber)
    this.#schedule()
  }

  leave(subscriber: Subscriber): void {
    this.#members.delete(subscriber)
    this.#waiting.delete(subscriber)
    this.#run?.joiners.delete(subscriber)
    if (this.#members.size === 0) this.close()
  }

  /** Called when the channel of a member accepts updates again. */
  flush(subscriber: Subscriber): void {
    if (!subscriber.isBehind) return
    subscriber.flush()
    this.#schedule()
  }

  /** Receives the events of one update that match triggers. Returns whether an event affects the group. */
  hit(events: readonly InvalidationEvent[]): boolean {
    const running = this.#run !== undefined
    // Every event is checked, because the journal must contain all events.
    const concerning = events.filter((event) => this.#entities?.concerns(event, running) ?? true)
    if (concerning.length === 0) return false
    this.#hit()
    return true
  }

  #hit(): void {
    const now = this.#options.clock.now()
    const { count, firstAt } = this.#pending
    this.#pending = { count: count + 1, firstAt: count === 0 ? now : firstAt, lastAt: now }
    this.#events += 1
    if (this.#isPartial) this.#failures = 0
    this.#schedule()
  }

  /** Re-executes after `delayMs`, because anything can have changed, and sends differences. The throttle applies. */
  resync(delayMs: number): void {
    const { clock, timing } = this.#options
    const at = Math.max(clock.now() + delayMs, this.#lastEmitAt + timing.throttleMs)
    this.#resyncAt = Math.min(this.#resyncAt, at)
    this.#schedule()
  }

  close(): void {
    this.#closed = true
    this.#options.clock.clearTimeout(this.#timer)
    this.#timerAt = Infinity
    this.#run?.controller.abort()
    this.#run = undefined
    this.#waiting.clear()
    this.#latest?.release()
    this.#latest = undefined
  }

  /**
   * Returns whether no event arrived since the start of the last or current run. It is always false if the group does
   * not receive all events.
   */
  #isCovered(): boolean {
    if (this.#pending.count > 0 || this.#resyncAt < Infinity) return false
    if (!this.plan.isPartial && !this.#entities) return true
    return this.#options.seenEvents() === (this.#run?.seenEvents ?? this.#latestSeenEvents)
  }

  #isFresh(): boolean {
    const age = this.#options.clock.now() - this.#latestBeganAt
    return this.#isCovered() && this.#failures === 0 && age < this.#options.joinWindowMs
  }

  #eventsDueAt(): number {
    if (this.#pending.count === 0) return Infinity
    const due = nextRunAt(this.#pending, this.#lastEmitAt, this.#options.timing)
    return this.#failures > 1 ? Math.max(due, Math.min(this.#retryAt, this.#pollAt)) : due
  }

  #schedule(): void {
    if (this.#closed || this.#run || !this.#isWanted()) return
    const { clock } = this.#options
    const now = clock.now()
    const due = this.#dueAt(now)
    // New subscribers need not wait for the runs of other groups.
    if (due <= now) return this.#waiting.size > 0 ? this.#start() : this.#begin()
    if (due === this.#timerAt) return
    clock.clearTimeout(this.#timer)
    this.#timerAt = due
    if (due === Infinity) return
    this.#timer = clock.setTimeout(() => {
      this.#timerAt = Infinity
      this.#schedule()
    }, due - now)
  }

  #dueAt(now: number): number {
    if (this.#waiting.size > 0) return now
    return Math.min(this.#eventsDueAt(), this.#resyncAt, this.#retryAt, this.#pollAt)
  }

  #begin(): void {
    if (this.#isToBegin) return
    this.#isToBegin = true
    this.#options.begin(() => {
      this.#isToBegin = false
      if (this.#closed || this.#run || !this.#isWanted()) return
      const now = this.#options.clock.now()
      if (this.#dueAt(now) <= now) this.#start()
    })
  }

  /** Returns whether a member needs a result. Queries are not executed for clients that do not read. */
  #isWanted(): boolean {
    for (const member of this.#members.keys()) if (!member.isBehind) return true
    return false
  }

  #start(): void {
    const { clock, timing, onRun } = this.#options
    const now = clock.now()
    const events = this.#eventsDueAt() <= now ? eventsOfNextRun(this.#pending.count, timing) : 0
    if (events > 0) this.#pending = { ...this.#pending, count: this.#pending.count - events, firstAt: now }
    const run: Run = {
      controller: new AbortController(),
      beganAt: now,
      seenEvents: this.#options.seenEvents(),
      first: this.#latest === undefined,
      events,
      polled: this.#pollAt <= now,
      joiners: new Set(this.#waiting),
    }
    clock.clearTimeout(this.#timer)
    this.#timerAt = Infinity
    this.#waiting.clear()
    this.#resyncAt = Infinity
    this.#retryAt = Infinity
    this.#run = run
    onRun()
    this.#execute(run).catch(this.#options.onError)
  }

  async #execute(run: Run): Promise<void> {
    const [member] = this.#members.values()
    if (!member) return
    let result: LiveResult
    try {
      const { signal } = run.controller
      result = await member.execute({ signal, first: run.first, client: onlyClient(this.#members.values()) })
    } catch (error) {
      if (this.#run !== run) return
      if (error instanceof EndLiveQuery) return this.#options.onEnd(error.errors)
      this.#options.onError(error)
      result = unexpectedResult(error)
    }
    if (this.#run === run) this.#finish(run, result)
  }

  #finish(run: Run, executed: LiveResult): void {
    const { clock } = this.#options
    const now = clock.now()
    this.#run = undefined
    const version = this.#versionOf(executed, Math.floor(clock.wallNow() / 1000))
    const { result } = version
    const previous = this.#latest
    this.#latest = version
    version.keep()
    previous?.release()
    if (this.#closed) return
    this.#latestBeganAt = run.beganAt
    this.#latestSeenEvents = run.seenEvents
    this.#failures = isWorthRetrying(result) ? this.#failures + 1 : 0
    this.#isPartial = this.#failures > 0 && bringsData(result)
    this.#broughtData ||= this.#failures === 0 || this.#isPartial
    const isHopeless = !this.#broughtData && this.#failures >= MAX_FAILURES
    if (isHopeless) return this.#options.onEnd(toTerminalErrors(result))
    this.#planNextTry(run, now)
    this.#deliver(run, version, now)
    if (this.#entities?.update(result.data, result.errors !== undefined)) this.#hit()
    this.#schedule()
  }

  #versionOf(result: LiveResult, emittedAt: number): Version {
    const { shared, changedFieldsDepth, onError } = this.#options
    const events = this.#events - this.#pending.count
    const { volatility } = this.plan
    const hold = (version: Version, bytes: number): Holding =>
      processLedger().hold(onlyClient(this.#members.values()), bytes, () => this.#drop(version))
    const made = { previous: this.#latest, events, emittedAt, volatility, shared, changedFieldsDepth, hold }
    try {
      return createVersion({ ...made, result })
    } catch (error) {
      // A value that JSON cannot represent, e.g. a BigInt or lists that are nested too deeply, becomes an error.
      onError(error)
      return createVersion({ ...made, result: unexpectedResult(error) })
    }
  }

  #drop(version: Version): void {
    const keepers = [...this.members].filter((member) => member.keeps(version))
    this.#options.onEnd([liveQueryMemory()], version === this.#latest ? this.members : keepers)
  }

  #deliver(run: Run, version: Version, now: number): void {
    const { skipUnchanged, timing } = this.#options
    const everyone =
      run.first ||
      (run.events > 0 && !skipUnchanged && this.plan.strategy !== 'HASH_DIFF') ||
      (run.polled && this.plan.strategy === 'POLLING' && this.#failures < 2)
    const throttledUntil = run.events > 0 || run.polled ? now : this.#lastEmitAt + timing.throttleMs
    let emitted = everyone
    for (const member of this.#members.keys()) {
      if (this.#waiting.has(member)) continue
      if (everyone || run.joiners.has(member)) {
        member.offer(version)
      } else if (member.isNews(version) && this.#pending.count === 0) {
        // A new subscriber discovered the change, but the throttle of the other subscribers still applies.
        if (throttledUntil > now) this.#resyncAt = Math.min(this.#resyncAt, throttledUntil)
        else {
          member.offer(version)
          emitted = true
        }
      }
    }
    if (emitted) this.#lastEmitAt = now
  }

  #planNextTry(run: Run, now: number): void {
    const { random } = this.#options
    const { strategy, pollIntervalMs } = this.plan
    const failures = this.#failures
    const backoff = failures > 0 ? backoffMs(failures, this.#isPartial, pollIntervalMs, random) : 0
    if (strategy === 'INVALIDATION') {
      if (failures > 0) this.#retryAt = now + backoff
    } else if (run.polled || this.#pollAt === Infinity) {
      this.#pollAt = now + Math.max(jittered(pollIntervalMs, random), backoff)
    }
  }
}
