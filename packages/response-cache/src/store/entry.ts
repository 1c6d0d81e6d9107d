import { createAttachment, keyed } from '@vinyasa/core'
import { hash } from 'node:crypto'

export interface Lifetime {
  /** Milliseconds for which an entry is fresh. */
  readonly ttlMs: number
  /** Milliseconds after that in which it may still be served while it is refreshed. */
  readonly staleMs: number
}

/** A stored response. */
export interface CacheEntry extends Lifetime {
  /** The serialised result, `{"data":...}`. */
  readonly body: Buffer
  /** By the monotonic clock of this process; in a shared store by the wall clock. */
  readonly storedAt: number
  /** Tags of what the result depends on; see `tags.ts`. */
  readonly tags: readonly string[]
  /** The version clock's reading before the execution that made it. */
  readonly version: number
}

/** Texts that are longer are kept as bytes from the start. */
const LONG_TEXT = 64 * 1024

/**
 * A long text as bytes, which are sent and kept as one. As text it would be made into bytes by whoever sends it and stay
 * beside them, on a heap that may grow to twice what lives there before it is collected.
 */
export function offHeap(body: string | Buffer): string | Buffer {
  return typeof body === 'string' && body.length > LONG_TEXT ? Buffer.from(body) : body
}

/** Returns the bytes that an entry's body takes at most: the same whether it was asked for already or not. */
export function bytesOf(entry: CacheEntry): number {
  return entry instanceof LazyEntry ? entry.bytes : entry.body.length
}

/** An entry whose bytes are made when they are first asked for: many a miss is never asked for again. */
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

/** Memory that many small buffers share. */
const POOL_BYTES = 65_536

/** The same bytes, without much memory around them that they alone would hold. */
function trimmed(body: Buffer): Buffer {
  const held = body.buffer.byteLength
  if (held <= POOL_BYTES || held - body.length <= body.length / 8) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}

/** A text with characters beyond ASCII may take two bytes for each of them all. */
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

/** `If-None-Match`, compared weakly as RFC 9110, section 13.1.2 asks. */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
