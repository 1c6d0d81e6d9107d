import {
  announced,
  type InitialPart,
  type Part,
  delivered,
  type LaterPart,
  type Patch,
  withdrawn,
  type Data,
  type PathSegment,
} from '../parts.ts'
import { inLaterTurn } from '../turn.ts'
import type { DeliveryRecord } from './delivery-record.ts'
import { type GraphQLError, responsePathAsArray, type ResponsePath } from 'graphql'

interface Node {
  /** `way`: a prefix of a delivered path; `null`: null was delivered; `left`: an earlier part delivered the value */
  state: 'way' | 'null' | 'left'
  readonly below: Map<PathSegment, Node>
}

/**
 * The paths that a response has delivered as null because of an error. Clients merge later parts into the earlier data,
 * so later parts must not contain these paths. Otherwise the object would reappear.
 */
class DeliveredNulls {
  #root: Node | undefined

  get isEmpty(): boolean {
    return this.#root === undefined
  }

  /**
   * @param isList whether an earlier part delivered a list at the path. The list remains, and later parts omit it,
   * because some clients cannot merge null over a list.
   */
  add(place: ResponsePath, isList: boolean): void {
    this.#node(place).state = isList ? 'left' : 'null'
  }

  /** Returns whether the path is one of these paths or below one. */
  cover(path: readonly PathSegment[]): boolean {
    let node = this.#root
    for (const segment of path) {
      node = node?.below.get(segment)
      if (!node) return false
      if (node.state !== 'way') return true
    }
    return false
  }

  /** Applies the nulls to data that will be delivered at the path. */
  applyTo(data: Data, path: readonly PathSegment[]): void {
    let node = this.#root
    for (const segment of path) node = node?.below.get(segment)
    if (node) nullify(data, node)
  }

  /** Returns the errors of paths that are not null yet. */
  unexplained(errors: readonly GraphQLError[]): readonly GraphQLError[] {
    return errors.filter(({ path }) => !path || !this.cover(path))
  }

  #node({ prev, key }: ResponsePath): Node {
    const above = prev ? this.#node(prev) : (this.#root ??= createNode())
    let node = above.below.get(key)
    if (!node) above.below.set(key, (node = createNode()))
    return node
  }
}

function createNode(): Node {
  return { state: 'way', below: new Map() }
}

function nullify(data: Data, node: Node): void {
  for (const [key, below] of node.below) {
    if (!Object.hasOwn(data, key)) continue
    const value = data[key]
    if (below.state === 'null') data[key] = null
    else if (below.state === 'left') delete data[key]
    else if (typeof value === 'object' && value !== null) nullify(value as Data, below)
  }
}

const none: readonly never[] = []

export interface PartStreamOptions {
  readonly root: DeliveryRecord
  /** Called when the consumer requests the second part, and therefore has the first part. */
  readonly onFirstTaken: () => void
  readonly onDrop: (record: DeliveryRecord) => void
  readonly onEnd: () => void
}

type Read = IteratorResult<Part, undefined>

/** The parts of one response in sending order: a fragment follows the fragment that contains it. */
export class PartStream implements AsyncIterableIterator<Part, undefined> {
  readonly #options: PartStreamOptions
  /** The announced records that the client waits for. Each record can be sent after its parent. */
  readonly #pending = new Set<DeliveryRecord>()
  readonly #nulls = new DeliveredNulls()
  #initial: InitialPart | undefined
  #consumer: ((result: Read) => void) | undefined
  #unschedule: (() => void) | undefined
  #isEnded = false

  constructor(options: PartStreamOptions) {
    this.#options = options
  }

  /** Starts the stream. Returns whether deferred parts follow the first part. */
  begin(): boolean {
    const { root } = this.#options
    this.#release(root)
    if (this.#pending.size === 0) return false
    const { data, errors } = root
    this.#initial = {
      data,
      ...(errors.length > 0 && { errors }),
      hasNext: true,
      [announced]: [...this.#pending],
    }
    return true
  }

  /** Returns whether the first part has errors. */
  hasErrors(): boolean {
    return this.#options.root.errors.length > 0
  }

  /** Called when a record is done or dropped. Records that are done in the same tick are sent in one part. */
  settled(): void {
    if (this.#unschedule || this.#isEnded || !this.#consumer) return
    this.#unschedule = inLaterTurn(() => this.#flush())
  }

  /** Sends all finished records now, because no further records follow. */
  allSettled(): void {
    this.#unschedule?.()
    this.#flush()
  }

  /** Ends the stream without another part. */
  end(): void {
    this.#finish()
    this.#deliver({ done: true, value: undefined })
  }

  next(): Promise<Read> {
    const value = this.#initial
    if (value) {
      this.#initial = undefined
      return Promise.resolve({ done: false, value })
    }
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    this.#options.onFirstTaken()
    return new Promise((resolve) => {
      this.#consumer = resolve
      this.settled()
    })
  }

  return(): Promise<Read> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  throw(error: unknown): Promise<Read> {
    this.end()
    return Promise.reject(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #flush(): void {
    this.#unschedule = undefined
    const part = this.#consumer && this.#takePart()
    if (!part) return
    if (!part.hasNext) this.#finish()
    this.#deliver({ done: false, value: part })
  }

  /** Returns the finished records as one part, or `undefined` if there is nothing to send. */
  #takePart(): LaterPart | undefined {
    const pending = this.#pending
    const incremental: Patch[] = []
    const sent: DeliveryRecord[] = []
    const opened: DeliveryRecord[] = []
    const gone: DeliveryRecord[] = []
    // A set also iterates over items that are added during the iteration, so finished nested fragments are in the same
    // part.
    for (const record of pending) {
      if (record.state !== 'done') continue
      pending.delete(record)
      const unknown = record.children.filter((child) => !pending.has(child))
      gone.push(...this.#release(record))
      for (const child of unknown) if (pending.has(child)) opened.push(child)
      incremental.push(toPatch(record))
      sent.push(record)
    }
    if (incremental.length === 0 && pending.size > 0) return undefined
    const part: LaterPart = { hasNext: pending.size > 0 }
    if (incremental.length > 0) Object.assign(part, { incremental, [delivered]: sent })
    const fresh = opened.filter((record) => pending.has(record))
    if (fresh.length > 0) part[announced] = fresh
    if (gone.length > 0) part[withdrawn] = gone
    return part
  }

  /** Marks the record as sent and releases its dependents. Returns records that will not be sent. */
  #release(record: DeliveryRecord): readonly DeliveryRecord[] {
    const nulls = this.#nulls
    const { root, onDrop } = this.#options
    const { data, children, place, path } = record
    if (data === null) {
      record.state = 'sent'
      for (const child of record.leave()) onDrop(child)
      return none
    }
    if (!nulls.isEmpty) record.errors = nulls.unexplained(record.errors)
    for (const at of record.nulls) {
      nulls.add(at, place.shared !== undefined && hasSentList(root, responsePathAsArray(at)))
    }
    record.state = 'sent'
    if (!nulls.isEmpty) nulls.applyTo(data, path)
    for (const child of children) {
      if (!nulls.isEmpty && nulls.cover(child.path)) onDrop(child)
      // Another record can have released it already.
      else if (child.state !== 'sent' && child.state !== 'dropped') this.#pending.add(child)
    }
    return record.nulls.length > 0 ? this.#withdraw() : none
  }

  /** Drops the pending records of paths that have just become null. */
  #withdraw(): readonly DeliveryRecord[] {
    const gone = [...this.#pending].filter(({ path }) => this.#nulls.cover(path))
    for (const record of gone) {
      this.#pending.delete(record)
      this.#options.onDrop(record)
    }
    return gone
  }

  #deliver(result: Read): void {
    const waiting = this.#consumer
    this.#consumer = undefined
    waiting?.(result)
  }

  #finish(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#pending.clear()
    this.#options.onEnd()
  }
}

/** Returns whether the record or a dependent record was sent with a list at the path. */
function hasSentList(record: DeliveryRecord, place: readonly PathSegment[]): boolean {
  const { state, path, data, children } = record
  if (state !== 'sent' || path.some((segment, index) => segment !== place[index])) return false
  const value = place
    .slice(path.length)
    .reduce<unknown>((at, segment) => (at as Data | null | undefined)?.[segment], data)
  return Array.isArray(value) || children.some((child) => hasSentList(child, place))
}

function toPatch(record: DeliveryRecord): Patch {
  const { data, path, label, errors } = record
  const patch: Patch = { data, path }
  if (label !== undefined) patch.label = label
  if (errors.length > 0) patch.errors = errors
  return patch
}
