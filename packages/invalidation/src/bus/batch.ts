import { isRecord } from '@vinyasa/core'
import type { InvalidationEvent } from '../types.ts'

/** One message between gateways. */
export interface Batch {
  /** Names the sender. Absent in messages of backends that write to the channel themselves. */
  readonly origin: string | undefined
  /** The sender's count of batches with events so far, this one included. */
  readonly n: number
  /** Empty in a heartbeat. */
  readonly events: readonly InvalidationEvent[]
  /** The sender's last word. */
  readonly isGoodbye?: boolean
  /** Whoever hears it is to say at once that it is there. */
  readonly isGreeting?: boolean
  /** The sender hears replies on a channel of its own, see `ownChannel`. */
  readonly listensApart?: boolean
  /** Counts of others up to which the sender has applied their batches, by origin. */
  readonly applied?: Readonly<Record<string, number>>
  /** The sender misses somebody who has said no goodbye. */
  readonly knowsOfMissing?: boolean
}

/** Where a process hears what concerns it alone. Of what a broker may not have in a name nothing is left. */
export function ownChannel(channel: string, origin: string): string {
  return `${channel}.${origin.replaceAll(/[^\w-]/g, '_')}`
}

/** Senders choose an origin of 36 characters. It is kept, and replaced in names of channels character by character. */
const MAX_ORIGIN_CHARACTERS = 1_000

/** `undefined` for what is no batch. */
export function parseBatch(value: unknown): Batch | undefined {
  if (!isRecord(value) || !Array.isArray(value['events'])) return undefined
  const { origin, n, events } = value
  if (origin === undefined && n === undefined) {
    return events.every(isEvent) ? { origin: undefined, n: 0, events } : undefined
  }
  if (typeof origin !== 'string' || origin.length > MAX_ORIGIN_CHARACTERS) return undefined
  if (!Number.isSafeInteger(n) || Number(n) < 0) return undefined
  if (!events.every(isEvent)) return undefined
  const applied = parseApplied(value['applied'])
  return {
    origin,
    n: Number(n),
    events,
    ...(value['isGoodbye'] === true && { isGoodbye: true }),
    ...(value['isGreeting'] === true && { isGreeting: true }),
    ...(value['listensApart'] === true && { listensApart: true }),
    ...(value['knowsOfMissing'] === true && { knowsOfMissing: true }),
    ...(applied && { applied }),
  }
}

function parseApplied(value: unknown): Batch['applied'] {
  if (!isRecord(value)) return undefined
  return Object.values(value).every((n) => typeof n === 'number') ? (value as Batch['applied']) : undefined
}

function isEvent(value: unknown): value is InvalidationEvent {
  if (!isRecord(value)) return false
  const { entityType, operation, entityId } = value
  return (
    typeof entityType === 'string' &&
    entityType !== '' &&
    typeof operation === 'string' &&
    operation !== '' &&
    (entityId === undefined || typeof entityId === 'string')
  )
}
