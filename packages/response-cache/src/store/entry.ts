import { createAttachment, keyed } from '@vinyasa/core'
import { hash } from 'node:crypto'

export interface Lifetime {
  /** Milliseconds for which an entry is fresh. */
  readonly ttlMs: number
  /** Milliseconds after that in which the entry can be served while it is refreshed. */
  readonly staleMs: number
}

/** A stored response. */
export interface CacheEntry extends Lifetime {
  /** The serialized result, `{"data":...}`. */
  readonly body: Buffer
  /** Time on the monotonic clock of this process; wall-clock time in a shared store. */
  readonly storedAt: number
  /** Tags of the result's dependencies; see `tags.ts`. */
  readonly tags: readonly string[]
  /** The count of the version clock before the execution. */
  readonly version: number
}

/** Longer strings are stored as bytes from the start. */
const LONG_TEXT = 64 * 1024

/**
 * Converts a long string to bytes, which are sent and stored. A string would be converted for sending and stay in
 * memory in addition to the bytes, on a heap that can double before it is collected.
 */
export function offHeap(body: string | Buffer): string | Buffer {
  return typeof body === 'string' && body.length > LONG_TEXT ? Buffer.from(body) : body
}

/** Returns the maximum number of bytes of an entry's body. It does not depend on earlier reads. */
export function bytesOf(entry: CacheEntry): number {
  return entry instanceof LazyEntry ? entry.bytes : entry.body.length
}

/** An entry whose bytes are created on first use, because many entries are never read. */
export class LazyEntry implements CacheEntry {
  readonly bytes: number
  private serialized: string | Buffer
  readonly storedAt: number
  readonly ttlMs: number
  readonly staleMs: number
  readonly tags: readonly string[]
  readonly version: number

  constructor(
    serialized: string | Buffer,
    { storedAt, ttlMs, staleMs, tags, version }: Omit<CacheEntry, 'body'>,
  ) {
    this.serialized = typeof serialized === 'string' ? serialized : trimmed(serialized)
    this.bytes = memoryOf(serialized)
    this.storedAt = storedAt
    this.ttlMs = ttlMs
    this.staleMs = staleMs
    this.tags = tags
    this.version = version
  }

  get body(): Buffer {
    if (typeof this.serialized === 'string') this.serialized = Buffer.from(this.serialized)
    return this.serialized
  }
}

/** The size of the memory block that small buffers share. */
const POOL_BYTES = 65_536

/** Returns the same bytes without a large memory block around them. */
function trimmed(body: Buffer): Buffer {
  const held = body.buffer.byteLength
  if (held <= POOL_BYTES || held - body.length <= body.length / 8) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}

/** A string with non-ASCII characters can take two bytes for every character. */
function memoryOf(body: string | Buffer): number {
  if (typeof body !== 'string') return body.length
  const bytes = Buffer.byteLength(body)
  return bytes === body.length ? bytes : Math.max(bytes, 2 * body.length)
}

/** Returns a strong validator of an entry's body. It is computed for the first GET request of the entry. */
export const etagOf: (entry: Pick<CacheEntry, 'body'>) => string = keyed(
  ({ body }: Pick<CacheEntry, 'body'>) => `"${hash('sha256', body, 'base64url')}"`,
  createAttachment<string>(),
)

/** Compares `If-None-Match` weakly (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
