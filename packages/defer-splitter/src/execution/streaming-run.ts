import { type ExecutionResult, type GraphQLError, locatedError } from 'graphql'
import { measureJson } from '@vinyasa/yoga-internals'
import { fragmentTimedOut, notSent, totalTimedOut } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Data } from '../parts.ts'
import type { ObjectPlace } from './place.ts'
import { DeliveryRecord, type DeliveryRun } from './delivery-record.ts'
import { createFragmentUsages, type FragmentUsages } from './fragment-usage.ts'
import {
  type Abortable,
  type Ending,
  isPromise,
  type MaybePromise,
  onAbort,
  isAsyncIterable,
} from '@vinyasa/base'
import type { Operation } from './operation.ts'
import { PartStream } from './part-stream.ts'
import type { PlannedFragment, PlannedField, Selections } from '../document/selections.ts'
import { createStartGate, type StartGate } from './start-gate.ts'
import { completePlainLeaf, completeResolved } from './complete.ts'
import { FieldCall, propertyOf } from './field-call.ts'
import { readItems } from './read-items.ts'
import { createSharedValues, type Resolved, type SharedValues } from './shared-values.ts'

/** Executes what is selected on an object and due in this group; what is deferred is handed to the group. */
function executeSelections(
  group: DeliveryRecord,
  place: ObjectPlace,
  selections: Selections,
): MaybePromise<Data> {
  let selection = selections.on(place.type)
  let at = place
  if (selection.deferred.length > 0) {
    if (!place.shared && selection.sharedKeys.size > 0) {
      at = { ...place, shared: createSharedValues(selection.sharedKeys) }
    }
    if (!group.defer(selection.deferred, at)) {
      selection = selections.inlinedOn(place.type)
      at = place
    }
  }
  const isSerial = !place.path && group.operation.isMutation
  return isSerial ? executeSerially(group, at, selection.fields) : executeFields(group, at, selection.fields)
}

function executeFields(
  group: DeliveryRecord,
  place: ObjectPlace,
  fields: readonly PlannedField[],
): MaybePromise<Data> {
  const data: Data = {}
  let waiting: Promise<unknown>[] | undefined
  try {
    for (const field of fields) {
      const plain = executePlainLeaf(group, place, field)
      const value = plain ?? executeField(group, place, field)
      // Set at once even when it is still to come: the keys keep the order of the document.
      data[field.key] = value
      if (plain !== undefined || !isPromise(value)) continue
      waiting ??= []
      waiting.push(value.then((settled) => (data[field.key] = settled)))
    }
  } catch (error) {
    // The field that failed takes this object with it; what the others still bring is of no use.
    if (waiting) Promise.allSettled(waiting).catch(() => undefined)
    throw error
  }
  return waiting ? allDone(waiting, data) : data
}

function allDone(waiting: readonly Promise<unknown>[], data: Data): Promise<Data> {
  const done = waiting.length === 1 && waiting[0] ? waiting[0] : Promise.all(waiting)
  return done.then(() => data)
}

async function executeSerially(
  group: DeliveryRecord,
  place: ObjectPlace,
  fields: readonly PlannedField[],
): Promise<Data> {
  const data: Data = {}
  for (const field of fields) data[field.key] = await executeField(group, place, field)
  return data
}

/** The commonest field: a property with a string, number or boolean. Undefined when it is anything else. */
function executePlainLeaf(group: DeliveryRecord, place: ObjectPlace, field: PlannedField): unknown {
  const { definition, shape } = field
  if (shape.kind !== 'leaf' || definition.resolve || place.shared || group.operation.fieldResolver) {
    return undefined
  }
  return completePlainLeaf(shape.type, propertyOf(place.source, definition.name))
}

/** The field's value as it goes into the data. */
function executeField(group: DeliveryRecord, place: ObjectPlace, field: PlannedField): unknown {
  const call = new FieldCall(group, place, field, executeSelections)
  const shared = place.shared?.has(field.key) ? place.shared : undefined
  let resolved: unknown
  try {
    resolved = shared ? resolveShared(shared, call) : call.resolve(false)
  } catch (error) {
    return call.fail(error, field.shape, call.path)
  }
  return completeResolved(call, field.shape, resolved, call.path, shared?.below(field.key))
}

function resolveShared(shared: SharedValues, call: FieldCall): unknown {
  const { key } = call.field
  let resolved: Resolved | undefined = shared.get(key)
  if (!resolved) {
    try {
      const value = call.resolve(true)
      resolved = {
        value: isPromise(value) ? value.then((given) => readOnce(given, call)) : readOnce(value, call),
      }
    } catch (thrown) {
      resolved = { thrown }
    }
    shared.set(key, resolved)
  }
  if ('thrown' in resolved) throw resolved.thrown
  return resolved.value
}

/** An iterator can be read once only. */
function readOnce(value: unknown, call: FieldCall): unknown {
  return isAsyncIterable(value) ? readAll(value, call.ending) : value
}

async function readAll(values: AsyncIterable<unknown>, ending: Ending): Promise<unknown[]> {
  const all: unknown[] = []
  await readItems(values, ending, (value) => all.push(value) > 0)
  return all
}

export type Executed = ExecutionResult | PartStream

/** One response: its first part, what follows, and when it ends. */
export class StreamingRun implements DeliveryRun {
  readonly operation: Operation
  isClosed = false
  readonly #options: ResolvedOptions
  readonly #leavingOf: () => readonly Abortable[]
  readonly #root: DeliveryRecord
  readonly #gate: StartGate<DeliveryRecord>
  readonly #stream: PartStream
  /** Made with the first fragment that starts. */
  #usages: FragmentUsages<DeliveryRecord> | undefined
  #leaving: readonly Abortable[] | undefined
  /** Lets go of them. */
  #letGo: readonly (() => void)[] | undefined
  readonly #shared = new Map<
    NonNullable<ObjectPlace['shared']>,
    Map<PlannedFragment['usage'], DeliveryRecord>
  >()
  #records = 0
  /** Number of the records that are not done yet. */
  #open = 0
  #totalTimer: unknown
  #answerLate: ((result: Executed) => void) | undefined

  /** @param leavingOf Lists what tells that the client has left; asked when there is something to cancel. */
  constructor(operation: Operation, options: ResolvedOptions, leavingOf: () => readonly Abortable[]) {
    const { rootType: type, rootValue: source } = operation
    const { clock } = options
    this.operation = operation
    this.#options = options
    this.#leavingOf = leavingOf
    this.#root = new DeliveryRecord(this, { type, source, path: undefined, shared: undefined })
    this.#gate = createStartGate(clock, (records) => this.#startAll(records))
    this.#stream = new PartStream({
      root: this.#root,
      onFirstTaken: this.#gate.open,
      onDrop: (record) => this.#drop(record),
      onEnd: () => this.#close(),
    })
  }

  execute(): MaybePromise<Executed> {
    const root = this.#root
    const { selections } = this.operation
    this.#startTotalTimer()
    root.state = 'running'
    let data: MaybePromise<Data>
    try {
      data = executeSelections(root, root.place, selections)
    } catch (error) {
      return this.#firstFailed(error)
    }
    if (!isPromise(data)) return this.#firstDone(data)
    this.#watchLeaving()
    this.#gate.openSoon()
    return new Promise((resolve) => {
      this.#answerLate = resolve
      data.then(
        (settled) => resolve(this.#firstDone(settled)),
        (error) => resolve(this.#firstFailed(error)),
      )
    })
  }

  get ending(): Ending {
    this.#leaving ??= this.#leavingOf()
    return this.operation.size.endingWith(this.#leaving[0])
  }

  defer(parent: DeliveryRecord, fragments: readonly PlannedFragment[], place: ObjectPlace): boolean {
    const known = this.#recordsAt(place)
    const fresh = known ? fragments.filter(({ usage }) => isGone(known.get(usage))) : fragments
    if (this.#records + fresh.length > this.#options.maxPatches) return false
    this.#records += fresh.length
    this.#open += fresh.length
    for (const fragment of fragments) {
      const before = known?.get(fragment.usage)
      if (before && !isGone(before)) {
        parent.addChild(before)
        continue
      }
      const record = new DeliveryRecord(this, place, fragment)
      known?.set(fragment.usage, record)
      parent.addChild(record)
      this.#gate.enter(record)
    }
    return true
  }

  /** The records of a place that several fragments may reach: each is one patch, whichever of them is sent first. */
  #recordsAt({ shared }: ObjectPlace): Map<PlannedFragment['usage'], DeliveryRecord> | undefined {
    if (!shared) return undefined
    let records = this.#shared.get(shared)
    if (!records) this.#shared.set(shared, (records = new Map()))
    return records
  }

  #firstDone(data: Data): Executed {
    const root = this.#root
    if (!this.#holds(data)) return this.#refused()
    root.data = data
    if (this.#stream.begin()) return this.#stream
    this.#close()
    return root.errors.length > 0 ? { data, errors: root.errors } : { data }
  }

  #firstFailed(error: unknown): Executed {
    if (this.operation.size.refusal) return this.#refused()
    this.#close()
    return { data: null, errors: [...this.#root.errors, locatedError(error, undefined)] }
  }

  /** Whether the answer with this is not too large. */
  #holds(data: Data): boolean {
    const { size } = this.operation
    try {
      size.add(0, measureJson(data, size.maxBytes))
      return true
    } catch {
      return false
    }
  }

  #refused(): Executed {
    this.#close()
    return { errors: [this.operation.size.refusal as GraphQLError] }
  }

  refuse(): void {
    const { refusal } = this.operation.size
    if (!refusal || this.isClosed) return
    if (this.#root.state === 'running') this.#answerLate?.(this.#refused())
    else this.#giveUp(openRecords(this.#root), (path) => notSent(refusal, path))
  }

  #startAll(records: readonly DeliveryRecord[]): void {
    for (const record of records) this.#start(record)
    if (this.#open === 0) this.#stream.allSettled()
  }

  #start(record: DeliveryRecord): void {
    const { fragment, place } = record
    if (record.state !== 'waiting' || !fragment) return
    this.#usages ??= this.#createUsages()
    const usage = this.#usages.of(fragment.usage)
    record.state = 'running'
    record.usage = usage
    try {
      const data = executeSelections(record, place, fragment.selections)
      if (!isPromise(data)) {
        this.#finish(record, data)
        return
      }
      usage.wait(record)
      this.#watchLeaving()
      data.then(
        (settled) => this.#finish(record, settled),
        (error) => this.#fail(record, error),
      )
    } catch (error) {
      this.#fail(record, error)
    }
  }

  #fail(record: DeliveryRecord, error: unknown): void {
    if (record.state !== 'running') return
    if (this.operation.size.refusal) return this.refuse()
    record.fail([...record.errors, locatedError(error, undefined, record.path)])
    this.#finish(record, null)
  }

  #finish(record: DeliveryRecord, data: Data | null): void {
    if (record.state !== 'running') return
    if (data && !this.#holds(data)) return this.refuse()
    record.state = 'done'
    this.#open--
    record.data = data
    record.usage?.done(record)
    this.#stream.settled()
  }

  /** The record is not sent: its place is gone. */
  #drop(record: DeliveryRecord): void {
    if (record.state === 'dropped' || record.state === 'sent') return
    if (record.state === 'waiting' || record.state === 'running') this.#open--
    record.state = 'dropped'
    for (const child of record.leave()) this.#drop(child)
    record.usage?.drop(record)
    this.#stream.settled()
  }

  #giveUp(open: readonly DeliveryRecord[], errorAt: (path: DeliveryRecord['path']) => GraphQLError): void {
    for (const record of open) {
      if (record.state === 'waiting') record.state = 'running'
      if (record.state !== 'running') continue
      const { usage } = record
      record.usage = undefined
      // Without what it had so far: a part of its errors would not explain why everything is missing.
      record.fail([errorAt(record.path)])
      this.#finish(record, null)
      // First the answer, then the end of its calls, so that what they report does not become part of it.
      usage?.drop(record)
    }
  }

  #createUsages(): FragmentUsages<DeliveryRecord> {
    const { fragmentTimeoutMs: timeoutMs, clock } = this.#options
    return createFragmentUsages({
      timeoutMs,
      clock,
      onTimeout: (records) =>
        this.#giveUp(records, (path) => fragmentTimedOut(path, `it took longer than ${timeoutMs} ms`)),
    })
  }

  #startTotalTimer(): void {
    const { maxTotalTimeoutMs, clock } = this.#options
    if (maxTotalTimeoutMs === 0) return
    this.#totalTimer = clock.setTimeout(() => {
      if (this.#root.state === 'running') {
        const errors: readonly GraphQLError[] = [totalTimedOut(maxTotalTimeoutMs)]
        this.#close()
        this.#answerLate?.({ errors })
      } else {
        const why = `the operation took longer than ${maxTotalTimeoutMs} ms`
        this.#giveUp(openRecords(this.#root), (path) => fragmentTimedOut(path, why))
      }
    }, maxTotalTimeoutMs)
  }

  readonly #left = (): void => this.#stream.end()

  /** A client that leaves ends the stream. Before anything waits, whoever reads the stream does that. */
  #watchLeaving(): void {
    if (this.#letGo || this.isClosed) return
    this.#leaving ??= this.#leavingOf()
    if (this.#leaving.some(({ aborted }) => aborted)) this.#stream.end()
    else this.#letGo = this.#leaving.map((leaving) => onAbort(leaving, this.#left))
  }

  #close(): void {
    this.isClosed = true
    this.operation.size.done()
    this.#gate.close()
    this.#usages?.close()
    this.#options.clock.clearTimeout(this.#totalTimer)
    this.#letGo?.forEach((letGo) => letGo())
  }
}

function isGone(record: DeliveryRecord | undefined): boolean {
  return record === undefined || record.state === 'dropped'
}

/** Every record that the client still waits for, the outermost of each branch. */
function openRecords(record: DeliveryRecord): readonly DeliveryRecord[] {
  if (record.state === 'waiting' || record.state === 'running') return [record]
  return record.children.flatMap(openRecords)
}
