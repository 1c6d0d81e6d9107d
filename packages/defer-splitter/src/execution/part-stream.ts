import { responsePathAsArray } from 'graphql'
import {
  announced,
  type DeferPatch,
  delivered,
  type InitialPart,
  type LaterPart,
  type Part,
  withdrawn,
} from '../parts.ts'
import { inLaterTurn } from '../turn.ts'
import { DeliveredNulls } from './delivered-nulls.ts'
import { type DeliveryRecord, hasSentList, toPatch } from './delivery-record.ts'

/** The parts of one response in the order in which they may be sent: a fragment after the one that holds it. */
export interface PartStream extends AsyncIterableIterator<Part> {
  /** The first part; undefined when nothing of what was deferred is left to send. */
  begin(): InitialPart | undefined
  /** Whether the first part holds errors. */
  hasErrors(): boolean
  /** A record is done or dropped. What is done in the same turn of the event loop goes into one part. */
  settled(): void
  /** Nothing else is to come: what is done goes out now. */
  allSettled(): void
  /** Ends the stream without another part. */
  end(): void
}

const none: readonly never[] = []

export function createPartStream(input: {
  readonly root: DeliveryRecord
  /** The consumer asks for the second part, so it has the first. */
  readonly onFirstTaken: () => void
  readonly onDrop: (record: DeliveryRecord) => void
  readonly onEnd: () => void
}): PartStream {
  const { root, onFirstTaken, onDrop, onEnd } = input
  const pending = new Set<DeliveryRecord>()
  const nulls = new DeliveredNulls()
  let initial: InitialPart | undefined
  let consumer: ((result: IteratorResult<Part, undefined>) => void) | undefined
  let unschedule: (() => void) | undefined
  let isEnded = false

  /** The record is sent: what depends on it may follow. Returns what was waited for and is not to come any more. */
  function release(record: DeliveryRecord): readonly DeliveryRecord[] {
    const { data, children, place, path } = record
    if (data === null) {
      record.state = 'sent'
      for (const child of children) onDrop(child)
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
      else pending.add(child)
    }
    return record.nulls.length > 0 ? withdraw() : none
  }

  /** Drops what waits at a place that has just become null. */
  function withdraw(): readonly DeliveryRecord[] {
    const gone = [...pending].filter(({ path }) => nulls.cover(path))
    for (const record of gone) {
      pending.delete(record)
      onDrop(record)
    }
    return gone
  }

  function flush(): void {
    unschedule = undefined
    if (!consumer) return
    const incremental: DeferPatch[] = []
    const sent: DeliveryRecord[] = []
    const opened: DeliveryRecord[] = []
    const gone: DeliveryRecord[] = []
    // A set yields what is added meanwhile: nested fragments that are ready follow in the same part.
    for (const record of pending) {
      if (record.state !== 'done') continue
      pending.delete(record)
      gone.push(...release(record))
      for (const child of record.children) if (pending.has(child)) opened.push(child)
      incremental.push(toPatch(record))
      sent.push(record)
    }
    if (incremental.length === 0 && pending.size > 0) return
    const part: LaterPart = { hasNext: pending.size > 0 }
    if (incremental.length > 0) Object.assign(part, { incremental, [delivered]: sent })
    const fresh = opened.filter((record) => pending.has(record))
    if (fresh.length > 0) part[announced] = fresh
    if (gone.length > 0) part[withdrawn] = gone
    if (!part.hasNext) finish()
    deliver({ done: false, value: part })
  }

  function deliver(result: IteratorResult<Part, undefined>): void {
    const waiting = consumer
    consumer = undefined
    waiting?.(result)
  }

  function schedule(): void {
    if (unschedule || isEnded || !consumer) return
    unschedule = inLaterTurn(flush)
  }

  function flushNow(): void {
    unschedule?.()
    flush()
  }

  function finish(): void {
    if (isEnded) return
    isEnded = true
    pending.clear()
    onEnd()
  }

  function end(): void {
    finish()
    deliver({ done: true, value: undefined })
  }

  return {
    hasErrors: () => root.errors.length > 0,
    begin() {
      release(root)
      if (pending.size === 0) return undefined
      const { data, errors } = root
      initial = {
        data,
        ...(errors.length > 0 && { errors }),
        hasNext: true,
        [announced]: [...pending],
      }
      return initial
    },
    settled: schedule,
    allSettled: flushNow,
    end,
    next() {
      if (initial) {
        const value = initial
        initial = undefined
        return Promise.resolve({ done: false, value })
      }
      if (isEnded) return Promise.resolve({ done: true, value: undefined })
      onFirstTaken()
      return new Promise((resolve) => {
        consumer = resolve
        schedule()
      })
    },
    return() {
      end()
      return Promise.resolve({ done: true, value: undefined })
    },
    throw(error) {
      end()
      return Promise.reject(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
