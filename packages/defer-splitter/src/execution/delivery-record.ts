import {
  type DirectiveNode,
  type GraphQLError,
  type GraphQLObjectType,
  responsePathAsArray,
  type ResponsePath,
} from 'graphql'
import { Ending } from '@vinyasa/core'
import type { Timers } from '../options.ts'
import type { Announced, Data, PathSegment } from '../parts.ts'
import type { Operation } from './operation.ts'
import type { FieldNodes, PlannedFragment, PlannedSelection } from '../document/selections.ts'

/** An object whose fields are executed. */
export interface ObjectPlace {
  readonly type: GraphQLObjectType
  readonly source: unknown
  readonly path: ResponsePath | undefined
  readonly shared: SharedValues | undefined
}

/**
 * The values of fields that several groups select at one object or list. Each value is resolved once, by the first
 * group. Each group completes it with its own selections.
 */
export class SharedValues {
  readonly #keys: PlannedSelection['sharedKeys'] | undefined
  /** Functions that return the resolved value of a response key, or throw the resolver's error. */
  readonly outcomes: Map<string, () => unknown> = new Map()
  /** The records of the object. Each record is one patch, regardless of the order of the fragments. */
  readonly records: Map<DirectiveNode, DeliveryRecord> = new Map()
  readonly #below = new Map<PathSegment, SharedValues>()

  /** @param keys the shared response keys; `undefined` means all */
  constructor(keys?: PlannedSelection['sharedKeys']) {
    this.#keys = keys
  }

  has(key: string): boolean {
    return this.#keys?.has(key) ?? true
  }

  /**
   * Returns the nodes of all groups, for resolvers that read the selections. Returns `undefined` if they are unknown.
   */
  nodesOf(key: string): FieldNodes | undefined {
    return this.#keys?.get(key)
  }

  /** Returns the values below a field or a list item. Everything below a shared field is shared. */
  below(segment: PathSegment): SharedValues {
    let values = this.#below.get(segment)
    if (!values) this.#below.set(segment, (values = new SharedValues()))
    return values
  }
}

/**
 * The state of a record:
 * `waiting`: not started
 * `running`: started
 * `done`: has data or failed
 * `sent`: sent to the client
 * `dropped`: not sent, because its object became null or the client disconnected
 */
export type RecordState = 'waiting' | 'running' | 'done' | 'sent' | 'dropped'

/** The response that contains a record. */
export interface DeliveryRun {
  readonly operation: Operation
  /** Ends the first fields, and calls whose values several records use. */
  readonly ending: Ending
  readonly isClosed: boolean
  /** Stops the response because it is too large. */
  refuse(): void
  /** Adds deferred fragments. Returns false if the limit of patches is reached. */
  defer(parent: DeliveryRecord, fragments: readonly PlannedFragment[], place: ObjectPlace): boolean
}

const none: readonly never[] = []

/**
 * The fields of one fragment at one object, which are delivered together, and the records that depend on them. The root
 * record has no fragment and is the first part.
 */
export class DeliveryRecord implements Announced {
  readonly run: DeliveryRun
  readonly fragment: PlannedFragment | undefined
  readonly place: ObjectPlace
  state: RecordState = 'waiting'
  children: readonly DeliveryRecord[] = none
  /** Number of records that this record can follow. */
  #parents = 0
  /** The timer and ending that all patches of the directive share. Set at the start. */
  usage: FragmentUsage | undefined
  data: Data | null = null
  errors: readonly GraphQLError[] = none
  /** The paths in `data` that are null because of an error. */
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

  /** Aborts when the calls of the record are no longer needed. Created on first use. */
  get ending(): Ending {
    return (this.usage ?? this.run).ending
  }

  /** Whether the record timed out or the client disconnected. */
  get isClosed(): boolean {
    return this.state !== 'running' || this.run.isClosed
  }

  /**
   * Adds an error of a field and the path that is null because of it. Errors after the end of the record are ignored.
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

  /** Fails the complete fragment. */
  fail(errors: readonly GraphQLError[]): void {
    this.errors = errors
    this.nulls = none
  }

  addChild(child: DeliveryRecord): void {
    child.#parents++
    if (this.children === none) this.children = [child]
    else (this.children as DeliveryRecord[]).push(child)
  }

  /** Drops the record. Returns the children that follow no other record. */
  leave(): readonly DeliveryRecord[] {
    return this.children.filter((child) => --child.#parents === 0)
  }
}

export interface FragmentUsageOptions {
  readonly timeoutMs: number
  readonly clock: Timers
  readonly onTimeout: (records: readonly DeliveryRecord[]) => void
}

/**
 * The timer and ending that all patches of one `@defer` in the document share. After it has ended, later patches of the
 * same directive start a new usage.
 */
export class FragmentUsage {
  readonly #options: FragmentUsageOptions
  readonly #waiting = new Set<DeliveryRecord>()
  #ending: Ending | undefined
  #timer: unknown

  constructor(options: FragmentUsageOptions) {
    this.#options = options
  }

  /** Created on first use, also after the end of the usage, because a resolver can read it after an await. */
  get ending(): Ending {
    return (this.#ending ??= new Ending())
  }

  get hasEnded(): boolean {
    return this.#ending?.aborted ?? false
  }

  /** Adds a waiting patch. It shares the timer with the patches that already wait. */
  wait(record: DeliveryRecord): void {
    const { clock, timeoutMs } = this.#options
    if (this.#waiting.size === 0 && timeoutMs > 0) {
      this.#timer = clock.setTimeout(() => this.#timeOut(), timeoutMs)
    }
    this.#waiting.add(record)
  }

  /** Ends the wait of a patch. The timer stops after the last patch. */
  done(record: DeliveryRecord): void {
    if (this.#waiting.delete(record) && this.#waiting.size === 0) this.#stopTimer()
  }

  /** Drops a patch. If no other patch needs the usage, its calls are cancelled. */
  drop(record: DeliveryRecord): void {
    if (!this.#waiting.has(record)) return
    this.done(record)
    if (this.#waiting.size === 0) this.ending.abort()
  }

  close(): void {
    this.#stopTimer()
    if (this.#waiting.size > 0) this.ending.abort()
  }

  #timeOut(): void {
    const records = [...this.#waiting]
    this.#waiting.clear()
    this.#stopTimer()
    // The patches are completed first, so that errors of cancelled calls are not part of them.
    this.#options.onTimeout(records)
    this.ending.abort(new DOMException('The deferred fragment took too long.', 'TimeoutError'))
  }

  #stopTimer(): void {
    this.#options.clock.clearTimeout(this.#timer)
  }
}
