import { isRecord, MAX_BROKER_BYTES, parseBrokerJson } from '@vinyasa/core'
import type { BatchName } from '@vinyasa/invalidation'
import type { CacheEntry, Tags } from '../store/entry.ts'

/** Encodes the parts of an entry that Redis scripts do not read. */
export function encodeMeta({ storedAt, ttlMs, staleMs, body }: CacheEntry): string {
  return JSON.stringify([storedAt, ttlMs, staleMs, body.length])
}

/** Returns `undefined` if the value is incomplete or was not written by this cache. */
export function decodeMeta(
  meta: Buffer | null | undefined,
  tags: Buffer | null | undefined,
  body: Buffer | null | undefined,
  version: number,
): CacheEntry | undefined {
  if (!meta || !tags || !body) return undefined
  const numbers = parseBrokerJson(meta)
  const names = parseBrokerJson(tags)
  if (!Array.isArray(numbers) || !Array.isArray(names)) return undefined
  const [storedAt, ttlMs, staleMs, length] = numbers as unknown[]
  if (typeof storedAt !== 'number' || typeof ttlMs !== 'number' || typeof staleMs !== 'number')
    return undefined
  const isWhole =
    length === body.length && body.toString('latin1', 0, 8) === '{"data":' && body.at(-1) === 0x7d
  if (!isWhole || !names.every((name) => typeof name === 'string')) return undefined
  return { storedAt, ttlMs, staleMs, body, tags: names, version }
}

/** A message from another process that shares the store. */
export interface StoreMessage {
  readonly tags: Tags
  /** The batch of events that caused the message, if it concerns this database. */
  readonly name: BatchName | undefined
}

/** The sending process and its database. All databases of a server share its channels. */
export interface Sender {
  readonly self: string
  readonly database: number
}

export function encodeMessage({ self: from, database }: Sender, { tags, name }: StoreMessage): string {
  const word = { from, tags, ...(name && { origin: name.origin, n: name.n, database }) }
  const text = JSON.stringify(word)
  return Buffer.byteLength(text) > MAX_BROKER_BYTES ? JSON.stringify({ ...word, tags: 'all' }) : text
}

/** Decodes the message of another process. An unreadable message evicts everything. */
export function decodeMessage(message: Buffer, { self, database }: Sender): StoreMessage | undefined {
  const decoded = parseBrokerJson(message)
  if (!isRecord(decoded)) return { tags: 'all', name: undefined }
  const { from, tags, origin, n, database: told } = decoded
  if (from === self) return undefined
  const isNamed = typeof origin === 'string' && typeof n === 'number' && told === database
  return {
    tags: Array.isArray(tags) && tags.every((tag) => typeof tag === 'string') ? tags : 'all',
    name: isNamed ? { origin, n, isOwn: false } : undefined,
  }
}
