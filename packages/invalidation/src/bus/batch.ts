import { isRecord } from '@vinyasa/core'
import type { InvalidationEvent } from '../types.ts'

/** One message between gateways. */
export interface Batch {
  /** Id of the sender. Missing in messages of backends that write to the channel directly. */
  readonly origin: string | undefined
  /** The sender's number of batches with events so far, including this batch. */
  readonly n: number
  /** Empty in a heartbeat. */
  readonly events: readonly InvalidationEvent[]
  /** Whether this is the last message of the sender. */
  readonly isGoodbye?: boolean
  /** Whether receivers must send a heartbeat immediately. */
  readonly isGreeting?: boolean
  /** Whether the sender receives replies on a separate channel, see `ownChannel`. */
  readonly listensApart?: boolean
  /** The last batches of other processes that the sender has applied, by origin. */
  readonly applied?: Readonly<Record<string, number>>
  /** Whether the sender misses a process that sent no shutdown message. */
  readonly knowsOfMissing?: boolean
}

/** Returns the channel for messages to one process. Characters that brokers forbid in names are replaced. */
export function ownChannel(channel: string, origin: string): string {
  return `${channel}.${origin.replaceAll(/[^\w-]/g, '_')}`
}

/**
 * Processes choose an origin of 36 characters. It is stored, and each character can be replaced in the names of
 * channels.
 */
const MAX_ORIGIN_CHARACTERS = 1_000

/** Returns `undefined` if the value is not a batch. */
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
