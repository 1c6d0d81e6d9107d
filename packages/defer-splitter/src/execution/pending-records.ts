import { responsePathAsArray } from 'graphql'
import { announced, delivered, type LaterPart, type Patch, withdrawn } from '../parts.ts'
import { DeliveredNulls } from './delivered-nulls.ts'
import { type DeliveryRecord, hasSentList, toPatch } from './delivery-record.ts'

const none: readonly never[] = []

/** The records that the client has been told of and waits for: each may be sent once the one that holds it is. */
export class PendingRecords {
  readonly #root: DeliveryRecord
  readonly #onDrop: (record: DeliveryRecord) => void
  readonly #pending = new Set<DeliveryRecord>()
  readonly #nulls = new DeliveredNulls()

  constructor(root: DeliveryRecord, onDrop: (record: DeliveryRecord) => void) {
    this.#root = root
    this.#onDrop = onDrop
  }

  /** The root is sent: returns what is waited for then. */
  begin(): readonly DeliveryRecord[] {
    this.#release(this.#root)
    return [...this.#pending]
  }

  /** Takes what is done, as one part; undefined where there is nothing to say yet. */
  takePart(): LaterPart | undefined {
    const pending = this.#pending
    const incremental: Patch[] = []
    const sent: DeliveryRecord[] = []
    const opened: DeliveryRecord[] = []
    const gone: DeliveryRecord[] = []
    // A set yields what is added meanwhile: nested fragments that are ready follow in the same part.
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

  clear(): void {
    this.#pending.clear()
  }

  /** The record is sent: what depends on it may follow. Returns what was waited for and is not to come any more. */
  #release(record: DeliveryRecord): readonly DeliveryRecord[] {
    const nulls = this.#nulls
    const { data, children, place, path } = record
    if (data === null) {
      record.state = 'sent'
      for (const child of record.leave()) this.#onDrop(child)
      return none
    }
    if (!nulls.isEmpty) record.errors = nulls.unexplained(record.errors)
    for (const at of record.nulls) {
      nulls.add(at, place.shared !== undefined && hasSentList(this.#root, responsePathAsArray(at)))
    }
    record.state = 'sent'
    if (!nulls.isEmpty) nulls.applyTo(data, path)
    for (const child of children) {
      if (!nulls.isEmpty && nulls.cover(child.path)) this.#onDrop(child)
      // Another record may have released it before.
      else if (child.state !== 'sent' && child.state !== 'dropped') this.#pending.add(child)
    }
    return record.nulls.length > 0 ? this.#withdraw() : none
  }

  /** Drops what waits at a place that has just become null. */
  #withdraw(): readonly DeliveryRecord[] {
    const gone = [...this.#pending].filter(({ path }) => this.#nulls.cover(path))
    for (const record of gone) {
      this.#pending.delete(record)
      this.#onDrop(record)
    }
    return gone
  }
}
