import {
  type DirectiveNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  locatedError,
} from 'graphql'
import {
  type Abortable,
  after,
  attempt,
  type Ending,
  endingOf,
  isPromise,
  type MaybePromise,
  onAbort,
} from '@vinyasa/core'
import { measureJson } from '@vinyasa/core/documents'
import type { KnownDocument } from '../document/document.ts'
import type { PlannedFragment } from '../document/selections.ts'
import { fragmentTimedOut, notSent, totalTimedOut } from '../errors.ts'
import type { ResolvedOptions, Timers } from '../options.ts'
import type { Data } from '../parts.ts'
import { DeliveryRecord, type DeliveryRun, FragmentUsage, type ObjectPlace } from './delivery-record.ts'
import { executeSelections } from './fields.ts'
import { type Operation, prepareOperation } from './operation.ts'
import { PartStream } from './part-stream.ts'
import { inLaterTurn } from '../turn.ts'

type Executed = ExecutionResult | PartStream

/**
 * Executes the operation, with the fields outside `@defer` first. The first part is available as soon as these fields
 * are. Deferred fields start when it has been written. If the first fields are slow, deferred fields start shortly
 * after them, so that both wait simultaneously.
 */
export function executeStreaming(
  args: ExecutionArgs,
  options: ResolvedOptions,
  document: KnownDocument,
): MaybePromise<Executed> {
  const operation = prepareOperation(args, document, options)
  if (!('selections' in operation)) return { errors: [...operation] }
  return new StreamingRun(operation, options, args).execute()
}

/**
 * Returns the signals of a disconnected client: Yoga's request, the context, and a signal of the execution arguments.
 */
function endingsOf(args: ExecutionArgs): readonly Abortable[] {
  const { abortSignal } = args as { readonly abortSignal?: AbortSignal | null }
  const { request } = Object(args.contextValue) as { readonly request?: unknown }
  const endings = [endingOf(request), endingOf(args.contextValue), endingOf(args), abortSignal]
  return [...new Set(endings.filter((given) => given !== undefined && given !== null))]
}

/** One response: its first part, the later parts, and its end. */
class StreamingRun implements DeliveryRun {
  readonly operation: Operation
  isClosed = false
  readonly #options: ResolvedOptions
  readonly #args: ExecutionArgs
  readonly #root: DeliveryRecord
  readonly #gate: StartGate<DeliveryRecord>
  readonly #stream: PartStream
  readonly #usages = new Map<DirectiveNode, FragmentUsage>()
  /** See `endingsOf`. Created when there is something to cancel. */
  #leaving: readonly Abortable[] | undefined
  /** Removes the listeners of these signals. */
  #letGo: readonly (() => void)[] | undefined
  /** Number of patches. */
  #records = 0
  /** Number of unfinished records. */
  #open = 0
  #totalTimer: unknown
  #answerLate: ((result: Executed) => void) | undefined

  constructor(operation: Operation, options: ResolvedOptions, args: ExecutionArgs) {
    const { rootType: type, rootValue: source } = operation
    const { clock } = options
    this.operation = operation
    this.#options = options
    this.#args = args
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
    const executed = attempt<Executed>(
      () => after(executeSelections(root, root.place, selections), (data) => this.#firstDone(data)),
      (error) => this.#firstFailed(error),
    )
    if (!isPromise(executed)) return executed
    this.#watchLeaving()
    this.#gate.openSoon()
    return new Promise((resolve) => {
      this.#answerLate = resolve
      executed.then(resolve)
    })
  }

  get ending(): Ending {
    this.#leaving ??= endingsOf(this.#args)
    return this.operation.size.endingWith(this.#leaving[0])
  }

  defer(parent: DeliveryRecord, fragments: readonly PlannedFragment[], place: ObjectPlace): boolean {
    const known = place.shared?.records
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

  /** Returns whether the response with this data is within its size limit. */
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
    const usage = this.#usageOf(fragment.usage)
    record.state = 'running'
    record.usage = usage
    const executed = attempt(
      () =>
        after(executeSelections(record, place, fragment.selections), (data) => this.#finish(record, data)),
      (error) => this.#fail(record, error),
    )
    if (!isPromise(executed)) return
    usage.wait(record)
    this.#watchLeaving()
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

  /** Drops a record, because its object no longer exists. */
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
      // Earlier errors are dropped, because a part of them would not explain the missing data.
      record.fail([errorAt(record.path)])
      this.#finish(record, null)
      // The record is completed first, so that errors of its cancelled calls are not part of it.
      usage?.drop(record)
    }
  }

  #usageOf(node: DirectiveNode): FragmentUsage {
    const known = this.#usages.get(node)
    if (known && !known.hasEnded) return known
    const { fragmentTimeoutMs: timeoutMs, clock } = this.#options
    const usage = new FragmentUsage({
      timeoutMs,
      clock,
      onTimeout: (records) =>
        this.#giveUp(records, (path) => fragmentTimedOut(path, `it took longer than ${timeoutMs} ms`)),
    })
    this.#usages.set(node, usage)
    return usage
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

  /** Ends the stream when the client disconnects. Until something waits, the consumer of the stream does this. */
  #watchLeaving(): void {
    if (this.#letGo || this.isClosed) return
    this.#leaving ??= endingsOf(this.#args)
    if (this.#leaving.some(({ aborted }) => aborted)) this.#stream.end()
    else this.#letGo = this.#leaving.map((leaving) => onAbort(leaving, this.#left))
  }

  #close(): void {
    this.isClosed = true
    this.operation.size.done()
    this.#gate.close()
    for (const usage of this.#usages.values()) usage.close()
    this.#usages.clear()
    this.#options.clock.clearTimeout(this.#totalTimer)
    this.#letGo?.forEach((letGo) => letGo())
  }
}

function isGone(record: DeliveryRecord | undefined): boolean {
  return record === undefined || record.state === 'dropped'
}

/** Returns the records that the client waits for, only the outermost record of each branch. */
function openRecords(record: DeliveryRecord): readonly DeliveryRecord[] {
  if (record.state === 'waiting' || record.state === 'running') return [record]
  return record.children.flatMap(openRecords)
}

/** Delays deferred work until the first part has been sent. */
interface StartGate<Work> {
  /** Adds work that starts in a later tick, after the gate opens. */
  enter(work: Work): void
  /**
   * Opens the gate after a short delay, because the first fields are waiting. One piece of work then starts per tick.
   */
  openSoon(): void
  /** Opens the gate when the first part has been read. Deferred work starts after it is written. */
  open(): void
  /** Prevents further work. */
  close(): void
}

/** Fast first fields finish within this delay, and it is negligible compared with slow fields. */
const graceMs = 5

export function createStartGate<Work>(
  clock: Timers,
  start: (works: readonly Work[]) => void,
): StartGate<Work> {
  let waiting: Work[] = []
  let state: 'shut' | 'ajar' | 'open' | 'closed' = 'shut'
  let isScheduled = false
  let graceTimer: unknown

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || state === 'shut' || state === 'closed') return
    isScheduled = true
    // Work is delayed by two ticks, so that finished parts are written before the next work blocks the thread.
    inLaterTurn(() => void inLaterTurn(run))
  }

  function run(): void {
    isScheduled = false
    if (state === 'closed') return
    const starting = state === 'open' ? waiting : waiting.slice(0, 1)
    waiting = waiting.slice(starting.length)
    start(starting)
    schedule()
  }

  return {
    enter(work) {
      waiting.push(work)
      schedule()
    },
    openSoon() {
      graceTimer = clock.setTimeout(() => {
        if (state === 'shut') state = 'ajar'
        schedule()
      }, graceMs)
    },
    open() {
      if (state === 'closed' || state === 'open') return
      state = 'open'
      clock.clearTimeout(graceTimer)
      schedule()
    },
    close() {
      state = 'closed'
      waiting = []
      clock.clearTimeout(graceTimer)
    },
  }
}
