import { announced, type DeferPatch, type InitialPart, type LaterPart, type Part } from '../parts.ts'
import { type DeliveryRecord, isReachable, toPatch } from './delivery-record.ts'

/** The parts of one response in the order in which they may be sent: a fragment after the one that holds it. */
export interface PartStream extends AsyncIterableIterator<Part> {
  /** The first part; undefined when nothing of what was deferred is left to send. */
  begin(): InitialPart | undefined
  /** A record is done or dropped. What is done in the same turn of the event loop goes into one part. */
  settled(): void
  /** Nothing else is to come: what is done goes out now. */
  allSettled(): void
  /** Ends the stream without another part. */
  end(): void
}

export function createPartStream(input: {
  readonly root: DeliveryRecord
  /** The consumer asks for the second part, so it has the first. */
  readonly onFirstTaken: () => void
  readonly onDrop: (record: DeliveryRecord) => void
  readonly onEnd: () => void
}): PartStream {
  const { root, onFirstTaken, onDrop, onEnd } = input
  const pending = new Set<DeliveryRecord>()
  let initial: InitialPart | undefined
  let consumer: ((result: IteratorResult<Part, undefined>) => void) | undefined
  let scheduled: NodeJS.Immediate | undefined
  let isEnded = false

  /** The record is sent: what depends on it may follow. */
  function release(record: DeliveryRecord): void {
    record.state = 'sent'
    if (record.children.length === 0) return
    const mayBeGone = record.errors.length > 0
    for (const child of record.children) {
      if (mayBeGone && !isReachable(child, record)) onDrop(child)
      if (child.state !== 'dropped') pending.add(child)
    }
  }

  function flush(): void {
    scheduled = undefined
    if (!consumer) return
    const incremental: DeferPatch[] = []
    const opened: DeliveryRecord[] = []
    // A set yields what is added meanwhile: nested fragments that are ready follow in the same part.
    for (const record of pending) {
      if (record.state !== 'done' && record.state !== 'dropped') continue
      pending.delete(record)
      if (record.state === 'dropped') continue
      release(record)
      for (const child of record.children) if (pending.has(child)) opened.push(child)
      if (isWorthSending(record)) incremental.push(toPatch(record))
    }
    if (incremental.length === 0 && pending.size > 0) return
    const part: LaterPart = { hasNext: pending.size > 0 }
    if (incremental.length > 0) part.incremental = incremental
    const fresh = opened.filter((record) => pending.has(record))
    if (fresh.length > 0) part[announced] = fresh
    if (!part.hasNext) finish()
    deliver({ done: false, value: part })
  }

  function deliver(result: IteratorResult<Part, undefined>): void {
    const waiting = consumer
    consumer = undefined
    waiting?.(result)
  }

  function schedule(): void {
    if (scheduled || isEnded || !consumer) return
    scheduled = setImmediate(flush)
  }

  function flushNow(): void {
    if (scheduled) clearImmediate(scheduled)
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

/** A fragment that holds nothing but other fragments has no patch of its own. */
function isWorthSending({ data, errors }: DeliveryRecord): boolean {
  if (data === null || errors.length > 0) return true
  for (const _ in data) return true
  return false
}
