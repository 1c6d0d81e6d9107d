import { type ExecutionArgs, type ExecutionResult, type GraphQLError, locatedError } from 'graphql'
import type { DeferredFragment } from '../collect-fields.ts'
import { fragmentTimedOut, totalTimedOut } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Data, Part } from '../parts.ts'
import type { DeliveryGroup, ObjectPlace } from './delivery-group.ts'
import { executeSelections } from './fields.ts'
import { requestOf } from './fragment-context.ts'
import { createFragmentUsages } from './fragment-usage.ts'
import { isAsyncIterable, isPromise } from './maybe-promise.ts'
import { type Operation, prepareOperation } from './operation.ts'
import { createPartStream } from './part-stream.ts'
import { DeliveryRecord } from './patch-record.ts'
import { createStartGate } from './start-gate.ts'

type Executed = ExecutionResult | AsyncIterable<Part>

/**
 * Executes the operation, the fields outside `@defer` first. The stream's first part is there as soon as they are;
 * deferred fields start once it is written, or shortly after the first fields did when those take their time, so that
 * both wait at the same time and the work of one does not hold back the other.
 */
export function executeStreaming(args: ExecutionArgs, options: ResolvedOptions): Promise<Executed> {
  const operation = prepareOperation(args)
  if (!('collector' in operation)) return Promise.resolve({ errors: [...operation] })
  return runOperation(operation, abortSignalsOf(args), options)
}

function runOperation(
  operation: Operation,
  leaving: readonly AbortSignal[],
  { fragmentTimeoutMs, maxTotalTimeoutMs, maxPatches, clock }: ResolvedOptions,
): Promise<Executed> {
  const { contextValue, rootType, rootValue, definition } = operation
  const root = new DeliveryRecord()
  const gate = createStartGate(clock, start)
  const stream = createPartStream({ root, onFirstTaken: gate.open, onDrop: drop, onEnd: close })
  const usages = createFragmentUsages<DeliveryRecord>({
    contextValue,
    timeoutMs: fragmentTimeoutMs,
    clock,
    onTimeout: (records) => giveUp(records, `it took longer than ${fragmentTimeoutMs} ms`),
  })
  let records = 0
  let isClosed = false
  let totalTimer: unknown

  function close(): void {
    isClosed = true
    gate.close()
    usages.close()
    clock.clearTimeout(totalTimer)
    for (const signal of leaving) signal.removeEventListener('abort', stream.end)
  }

  function createGroup(record: DeliveryRecord, context: unknown, signal?: AbortSignal): DeliveryGroup {
    return {
      operation,
      contextValue: context,
      signal,
      errors: [],
      get isClosed() {
        return isClosed || record.state !== 'running'
      },
      defer: (fragments, place) => defer(record, fragments, place),
    }
  }

  function defer(
    parent: DeliveryRecord,
    fragments: readonly DeferredFragment[],
    place: ObjectPlace,
  ): boolean {
    if (records + fragments.length > maxPatches) return false
    records += fragments.length
    for (const fragment of fragments) {
      const record = new DeliveryRecord(fragment, place)
      parent.addChild(record)
      gate.enter(record)
    }
    return true
  }

  function start(record: DeliveryRecord): void {
    const { fragment, place } = record
    if (record.state !== 'waiting' || !fragment || !place) return
    const usage = usages.of(fragment.usage)
    record.state = 'running'
    record.usage = usage
    const group = createGroup(record, usage.contextValue, usage.signal)
    const failed = (error: unknown): void =>
      finish(record, null, [...group.errors, locatedError(error, undefined, record.path)])
    try {
      const data = executeSelections(group, place, fragment.selectionSets)
      if (!isPromise(data)) {
        finish(record, data, group.errors)
        return
      }
      usage.wait(record)
      data.then((settled) => finish(record, settled, [...group.errors]), failed)
    } catch (error) {
      failed(error)
    }
  }

  function finish(record: DeliveryRecord, data: Data | null, errors: readonly GraphQLError[]): void {
    if (record.state !== 'running') return
    record.state = 'done'
    record.data = data
    record.errors = errors
    if (data === null) for (const child of record.children) drop(child)
    record.usage?.done(record)
    stream.settled()
  }

  /** The record is not sent: its place is gone. */
  function drop(record: DeliveryRecord): void {
    if (record.state === 'dropped') return
    record.state = 'dropped'
    for (const child of record.children) drop(child)
    record.usage?.drop(record)
    stream.settled()
  }

  function giveUp(open: readonly DeliveryRecord[], why: string): void {
    for (const record of open) {
      if (record.state === 'waiting') record.state = 'running'
      const { usage } = record
      record.usage = undefined
      // Without what it had so far: a part of its errors would not explain why everything is missing.
      finish(record, null, [fragmentTimedOut(record.path, why)])
      // First the answer, then the end of its calls, so that what they report does not become part of it.
      usage?.drop(record)
    }
  }

  /** Every record that the client still waits for, the outermost of each branch. */
  function openRecords(record: DeliveryRecord): readonly DeliveryRecord[] {
    if (record.state === 'waiting' || record.state === 'running') return [record]
    return record.children.flatMap(openRecords)
  }

  return new Promise((resolve) => {
    const answer = (result: Executed): void => {
      if (!isAsyncIterable(result)) close()
      resolve(result)
    }
    if (maxTotalTimeoutMs > 0) {
      totalTimer = clock.setTimeout(() => {
        if (root.state === 'running') answer({ errors: [totalTimedOut(maxTotalTimeoutMs)] })
        else giveUp(openRecords(root), `the query took longer than ${maxTotalTimeoutMs} ms`)
      }, maxTotalTimeoutMs)
    }
    for (const signal of leaving) signal.addEventListener('abort', stream.end, { once: true })
    const group = createGroup(root, contextValue, leaving[0])
    const place = { type: rootType, source: rootValue, path: undefined, shared: undefined }
    root.state = 'running'
    const executed = (data: Data): void => {
      const errors = [...group.errors]
      root.data = data
      root.errors = errors
      answer(stream.begin() ? stream : errors.length > 0 ? { data, errors } : { data })
    }
    const failed = (error: unknown): void =>
      answer({ data: null, errors: [...group.errors, locatedError(error, undefined)] })
    try {
      const data = executeSelections(group, place, [definition.selectionSet])
      if (!isPromise(data)) {
        executed(data)
        return
      }
      gate.openSoon()
      data.then(executed, failed)
    } catch (error) {
      failed(error)
    }
  })
}

/** What tells that the client has left: Yoga's request, and the signal that an execution may be given. */
function abortSignalsOf(args: ExecutionArgs): readonly AbortSignal[] {
  const { signal, abortSignal } = args as {
    readonly signal?: AbortSignal
    readonly abortSignal?: AbortSignal
  }
  const ofContext = (args.contextValue as { readonly signal?: AbortSignal } | null | undefined)?.signal
  const signals = [requestOf(args.contextValue)?.signal, ofContext, signal, abortSignal]
  return [...new Set(signals.filter((given) => given !== undefined && given !== null))]
}
