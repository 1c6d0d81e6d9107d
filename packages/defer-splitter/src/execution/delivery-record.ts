import { type GraphQLError, type GraphQLObjectType, responsePathAsArray, type ResponsePath } from 'graphql'
import { Ending } from '@vinyasa/core'
import type { Timers } from '../options.ts'
import type { Announced, Data, Patch, PathSegment } from '../parts.ts'
import type { Operation } from './operation.ts'
import type { PlannedFragment } from '../document/selections.ts'
import type { SharedValues } from './shared-values.ts'

/** An object whose fields are executed. */
export interface ObjectPlace {
  readonly type: GraphQLObjectType
  readonly source: unknown
  readonly path: ResponsePath | undefined
  readonly shared: SharedValues | undefined
}

/**
 * `waiting`: not started. `running`. `done`: has its data, or failed. `sent`. `dropped`: its place turned out null, or
 * nobody wants it.
 */
export type RecordState = 'waiting' | 'running' | 'done' | 'sent' | 'dropped'

/** The response that a record is part of. */
export interface DeliveryRun {
  readonly operation: Operation
  /** The ending of the first fields, and of calls whose values several records wait for. */
  readonly ending: Ending
  readonly isClosed: boolean
  /** The answer has become too large: nothing more of it is made. */
  refuse(): void
  /** Takes fragments for later; false when the response may not have that many more patches. */
  defer(parent: DeliveryRecord, fragments: readonly PlannedFragment[], place: ObjectPlace): boolean
}

const none: readonly never[] = []

/**
 * Fields that are delivered together, one fragment at one place, and what depends on it. The root record, which has no
 * fragment, is the first part.
 */
export class DeliveryRecord implements Announced {
  readonly run: DeliveryRun
  readonly fragment: PlannedFragment | undefined
  readonly place: ObjectPlace
  state: RecordState = 'waiting'
  children: readonly DeliveryRecord[] = none
  /** The number of records that it may follow. */
  #parents = 0
  /** The timer and ending that the patches of the same directive share; set when it starts. */
  usage: FragmentUsage | undefined
  data: Data | null = null
  errors: readonly GraphQLError[] = none
  /** The places in `data` that are null for an error. */
  nulls: readonly ResponsePath[] = none
  #path: readonly PathSegment[] | undefined

  constructor(run: DeliveryRun, place: ObjectPlace, fragment?: PlannedFragment) {
    this.run = run
    this.place = place
    this.fragment = fragment
  }

  get path(): readonly PathSegment[] {
    return (this.#path ??= this.place.path ? responsePathAsArray(this.place.path) : none)
  }

  get label(): string | undefined {
    return this.fragment?.label
  }

  get operation(): Operation {
    return this.run.operation
  }

  /** Aborts when its calls are no longer wanted. Made when it is asked for. */
  get ending(): Ending {
    return (this.usage ?? this.run).ending
  }

  /** No longer wanted: timed out, or the client has left. */
  get isClosed(): boolean {
    return this.state !== 'running' || this.run.isClosed
  }

  /**
   * Takes an error of one of its fields, and the place that is null for it; one that comes after the record was done is not
   * told any more.
   */
  report(error: GraphQLError, place: ResponsePath): void {
    if (this.state !== 'running') return
    if (this.operation.size.refusal) return this.run.refuse()
    if (this.errors === none) {
      this.errors = [error]
      this.nulls = [place]
      return
    }
    ;(this.errors as GraphQLError[]).push(error)
    ;(this.nulls as ResponsePath[]).push(place)
  }

  /** The fragment failed as a whole. */
  fail(errors: readonly GraphQLError[]): void {
    this.errors = errors
    this.nulls = none
  }

  addChild(child: DeliveryRecord): void {
    child.#parents++
    if (this.children === none) this.children = [child]
    else (this.children as DeliveryRecord[]).push(child)
  }

  /** It is not sent: returns the children that follow no other record. */
  leave(): readonly DeliveryRecord[] {
    return this.children.filter((child) => --child.#parents === 0)
  }
}

/** Whether the record, or one that depends on it, was sent with a list at the place. */
export function hasSentList(record: DeliveryRecord, place: readonly PathSegment[]): boolean {
  const { state, path, data, children } = record
  if (state !== 'sent' || path.some((segment, index) => segment !== place[index])) return false
  const value = place
    .slice(path.length)
    .reduce<unknown>((at, segment) => (at as Data | null | undefined)?.[segment], data)
  return Array.isArray(value) || children.some((child) => hasSentList(child, place))
}

export function toPatch(record: DeliveryRecord): Patch {
  const { data, path, label, errors } = record
  const patch: Patch = { data, path }
  if (label !== undefined) patch.label = label
  if (errors.length > 0) patch.errors = errors
  return patch
}

export interface FragmentUsageOptions {
  readonly timeoutMs: number
  readonly clock: Timers
  readonly onTimeout: (records: readonly DeliveryRecord[]) => void
  /** Later patches of the same directive start a new usage. */
  readonly onRetire: () => void
}

/** One timer and one ending that all patches of one `@defer` in the document share. */
export class FragmentUsage {
  readonly #options: FragmentUsageOptions
  readonly #waiting = new Set<DeliveryRecord>()
  #ending: Ending | undefined
  #timer: unknown

  constructor(options: FragmentUsageOptions) {
    this.#options = options
  }

  /** Made when it is asked for. */
  get ending(): Ending {
    return (this.#ending ??= new Ending())
  }

  /** The patch has something to wait for: it shares the usage's time with those that wait already. */
  wait(record: DeliveryRecord): void {
    const { clock, timeoutMs } = this.#options
    if (this.#waiting.size === 0 && timeoutMs > 0) {
      this.#timer = clock.setTimeout(() => this.#timeOut(), timeoutMs)
    }
    this.#waiting.add(record)
  }

  /** The patch waits no longer. With the last one the timer stops. */
  done(record: DeliveryRecord): void {
    if (this.#waiting.delete(record) && this.#waiting.size === 0) this.#stopTimer()
  }

  /** The patch is no longer wanted. When no other one is, the usage's calls are cancelled. */
  drop(record: DeliveryRecord): void {
    if (!this.#waiting.has(record)) return
    this.done(record)
    if (this.#waiting.size > 0) return
    this.#options.onRetire()
    this.#cancel()
  }

  close(): void {
    this.#stopTimer()
    if (this.#waiting.size > 0) this.#cancel()
  }

  #timeOut(): void {
    const records = [...this.#waiting]
    this.#waiting.clear()
    this.#stopTimer()
    this.#options.onRetire()
    // First the answer, so that what the cancelled calls report does not become part of it.
    this.#options.onTimeout(records)
    this.#cancel(new DOMException('The deferred fragment took too long.', 'TimeoutError'))
  }

  /** For those that ask for the ending later, too: a resolver may do so after an await of its own. */
  #cancel(reason?: DOMException): void {
    this.ending.abort(reason)
  }

  #stopTimer(): void {
    this.#options.clock.clearTimeout(this.#timer)
  }
}
