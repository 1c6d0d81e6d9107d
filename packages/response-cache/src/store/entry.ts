import { hash } from 'node:crypto'
import { createAttachment, keyed } from '@vinyasa/core'
import type { BatchName } from '@vinyasa/invalidation'

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

/**
 * Strings for the dependencies of an entry and for invalidations: `User` (anything of the type), `User:1` (one entity),
 * `User:?` (an entity whose id is not in the result), and `*` (a result without types, which depends on everything).
 */
export type Tags = readonly string[] | 'all'

/** The tag of results without object types at their root. Every invalidation affects it. */
export const anyTag = '*'

/** Clients choose ids. Longer ids are replaced by their hash, because tags are remembered. */
const MAX_ID = 200

export const typeTag = (typename: string): string => typename
export const entityTag = (typename: string, id: string): string =>
  `${typename}:${id.length > MAX_ID ? hash('sha256', id, 'base64url') : id}`
export const unidentifiedTag = (typename: string): string => `${typename}:?`

/** GraphQL names contain no colon, so the type ends at the first colon. */
export function typeOfTag(tag: string): string {
  const colon = tag.indexOf(':')
  return colon === -1 ? tag : tag.slice(0, colon)
}

/** A change, as reported by mutations, events and purges. */
export interface InvalidationTarget {
  /** The GraphQL object type. */
  readonly type: string
  /** The id. `undefined` means that any entity of the type can have changed. */
  readonly id?: string | undefined
}

/**
 * Returns the tags that the targets affect. If `byEntity` is false, entries have only types, so an id is replaced by
 * its type. Entities with an unknown id are affected as well.
 */
export function tagsOfTargets(targets: readonly InvalidationTarget[], byEntity: boolean): readonly string[] {
  const tags = new Set<string>([anyTag])
  for (const { type, id } of targets) {
    if (id === undefined || !byEntity) {
      tags.add(typeTag(type))
    } else {
      tags.add(entityTag(type, id))
      tags.add(unidentifiedTag(type))
    }
  }
  return [...tags]
}

export interface RemoteRead {
  /**
   * The entry if it exists and is valid. Its `version` is that of the cache that wrote it, if this is the same cache.
   * Otherwise it is a larger number.
   */
  readonly entry: CacheEntry | undefined
  /** The store's version before a possible execution. */
  readonly version: number
}

/** An event in the store that another process caused. */
export type RemoteEvent =
  | { readonly type: 'invalidated'; readonly tags: Tags }
  /** The store cannot guarantee its events, so memory can be outdated. */
  | { readonly type: 'down'; readonly error: unknown }
  | { readonly type: 'up' }

/** A store that several processes share in addition to their memory. */
export interface RemoteStore {
  /** Reads an entry. Returns `undefined` if the store is unreachable; the request is then served without the cache. */
  read(key: string): Promise<RemoteRead | undefined>
  /** Stores the entry unless one of its tags was invalidated since `version`. */
  write(key: string, entry: CacheEntry, version: number): Promise<boolean>
  /**
   * Resolves when the store has the invalidation, or is known to be unreachable. `name` identifies a batch of events.
   * If another process already sent the same tags for the batch, nothing is sent.
   */
  invalidate(tags: Tags, name?: BatchName): Promise<void>
  delete(key: string): Promise<void>
  /**
   * Marks the start of a change; the returned function marks its end, after the invalidation. If a process ends in
   * between, its changes are unknown, and the store evicts everything. Without this method, entries stay until they
   * expire if a process is killed during a change.
   */
  changing?(): Promise<() => void>
  /**
   * Subscribes to invalidations of other processes. A store without this method is read for every request, because
   * memory could be outdated.
   */
  subscribe?(listener: (event: RemoteEvent) => void): () => void
  close(): Promise<void>
}
