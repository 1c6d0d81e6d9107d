import type { MaybePromise } from '@vinyasa/core'
import { randomUUID } from 'node:crypto'
import type { ExecutionResult } from 'graphql'
import type { CacheEntry } from './entry.ts'
import type { RemoteStore } from './remote-store.ts'
import { anyTag, typeOfTag, type Tags } from './tags.ts'

/** One entity or type, as Envelop's caches index their entries. */
export interface EnvelopCacheRecord {
  readonly typename: string
  readonly id?: string | number
}

/** The `Cache` interface of `@envelop/response-cache`; whatever implements it fits. */
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
  /** The adapter that wrote it. */
  readonly by: string
}

/** On every entry, so that all of them can be named at once. */
const everything: EnvelopCacheRecord = { typename: '*all*' }

/**
 * Makes a store of an `@envelop/response-cache` cache: `useResponseCache({ store: fromEnvelopCache(cache) })`.
 * Such a cache holds objects and tells nobody of its invalidations, so it is read on every request.
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
      // The interface removes by entity only; an entry that expires at once is as good as none.
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

/** Undefined for what this adapter did not write. */
function entryOf({ data, extensions }: ExecutionResult, self: string): CacheEntry | undefined {
  const meta = extensions?.['responseCache'] as Partial<Meta> | undefined
  const { storedAt, ttlMs, staleMs, tags } = meta ?? {}
  if (!data || storedAt === undefined || ttlMs === undefined || staleMs === undefined || !tags)
    return undefined
  // A write of our own may have arrived after an invalidation; of another's nothing later is known.
  const version = meta?.by === self ? (meta.version ?? 0) : Number.MAX_SAFE_INTEGER
  return { body: Buffer.from(JSON.stringify({ data })), storedAt, ttlMs, staleMs, tags, version }
}
