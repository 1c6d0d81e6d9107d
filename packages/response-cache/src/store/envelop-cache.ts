import type { MaybePromise } from '@vinyasa/core'
import { randomUUID } from 'node:crypto'
import type { ExecutionResult } from 'graphql'
import { anyTag, type CacheEntry, type RemoteStore, type Tags, typeOfTag } from './entry.ts'

/** An entity or a type in the index of an Envelop cache. */
export interface EnvelopCacheRecord {
  readonly typename: string
  readonly id?: string | number
}

/** The `Cache` interface of `@envelop/response-cache`. Any implementation is accepted. */
export interface EnvelopCache {
  set(
    id: string,
    data: ExecutionResult,
    entities: Iterable<EnvelopCacheRecord>,
    ttl: number,
  ): MaybePromise<void>
  get(id: string): MaybePromise<ExecutionResult | null | undefined>
  invalidate(entities: Iterable<EnvelopCacheRecord>): MaybePromise<void>
}

interface Meta extends Omit<CacheEntry, 'body'> {
  /** The adapter that wrote the entry. */
  readonly by: string
}

/** A record of every entry, so that all entries can be invalidated together. */
const everything: EnvelopCacheRecord = { typename: '*all*' }

/**
 * Converts an `@envelop/response-cache` cache to a store: `useResponseCache({ store: fromEnvelopCache(cache) })`. Such
 * a cache stores objects and publishes no invalidations, so it is read for every request.
 */
export function fromEnvelopCache(cache: EnvelopCache): RemoteStore {
  const self = randomUUID()
  return {
    async read(key) {
      const result = await cache.get(key)
      return { entry: result ? entryOf(result, self) : undefined, version: 0 }
    },
    async write(key, entry) {
      const { storedAt, ttlMs, staleMs, tags, body, version } = entry
      const { data } = JSON.parse(body.toString()) as ExecutionResult
      const meta: Meta = { storedAt, ttlMs, staleMs, tags, by: self, version }
      const records = [everything, ...recordsOf(tags)]
      await cache.set(key, { data, extensions: { responseCache: meta } }, records, ttlMs + staleMs)
      return true
    },
    async invalidate(tags: Tags) {
      await cache.invalidate(tags === 'all' ? [everything] : recordsOf(tags))
    },
    async delete(key) {
      // The interface removes by entity only, so the entry is replaced by an entry that expires immediately.
      await cache.set(key, { data: null }, [everything], 1)
    },
    close: async () => {},
  }
}

function recordsOf(tags: readonly string[]): EnvelopCacheRecord[] {
  return tags.map((tag) => {
    const typename = typeOfTag(tag)
    return tag === anyTag || typename === tag
      ? { typename }
      : { typename, id: tag.slice(typename.length + 1) }
  })
}

/** Returns `undefined` for entries that this adapter did not write. */
function entryOf({ data, extensions }: ExecutionResult, self: string): CacheEntry | undefined {
  const meta = extensions?.['responseCache'] as Partial<Meta> | undefined
  const { storedAt, ttlMs, staleMs, tags } = meta ?? {}
  if (!data || storedAt === undefined || ttlMs === undefined || staleMs === undefined || !tags)
    return undefined
  // A write of this process can arrive after an invalidation. For other processes, later invalidations are unknown.
  const version = meta?.by === self ? (meta.version ?? 0) : Number.MAX_SAFE_INTEGER
  return { body: Buffer.from(JSON.stringify({ data })), storedAt, ttlMs, staleMs, tags, version }
}
