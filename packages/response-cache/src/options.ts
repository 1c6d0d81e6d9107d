import { type Clock } from '@vinyasa/core'
import type { InvalidationBus, InvalidationEvent } from '@vinyasa/invalidation'
import type { InvalidationTarget, RemoteStore } from './store/entry.ts'
import type { DocumentNode, GraphQLSchema } from 'graphql'

/** A change, as passed to an invalidation function. */
export interface InvalidationCause {
  /** A mutation executed by this server, or events on the bus. */
  readonly source: 'mutation' | 'event'
  /** The types that the mutation changes or that the events name. `*`: the types are unknown. */
  readonly types: readonly string[]
  /**
   * The changed entities, from the mutation's result or the events. Without `id` any entity of the type; `*` any
   * entity.
   */
  readonly entities: readonly InvalidationTarget[]
  /** The events; empty for a mutation. */
  readonly events: readonly InvalidationEvent[]
}

/**
 * Selects the entries that a change evicts.
 * - `types` (default): entries that depend on a changed type. The README explains dependencies.
 * - `entities`: entries that depend on a changed entity, by type and id. A change without an id, or a `create`
 *   event, affects the type. Lists, wrappers and null values depend on every entity of their types.
 * - `all`: every entry.
 * - A function returns the targets, or `all`. An empty list evicts nothing.
 */
export type InvalidationStrategy =
  | 'types'
  | 'entities'
  | 'all'
  | ((cause: InvalidationCause) => readonly InvalidationTarget[] | 'all')

/** The rule for sharing responses of one operation on a server with field rules. */
export interface OperationAccess {
  /** Request headers that the decision depends on, in lower case. `Vary` lists them. */
  readonly headers: readonly string[]
  /**
   * Returns a key; clients with equal keys share a response, which is private. `null` means that the caller is
   * refused a part: it neither gets a stored response nor leaves one. The context may be incomplete: it contains what
   * the request hooks added. Default: headers that sources read are derived from `headers`, and distinguish clients.
   */
  readonly keyOf?: ((context: Record<string, unknown>) => string | null) | undefined
}

/** An event of the cache, for logs and metrics. */
export type CacheEvent =
  | { readonly type: 'hit' | 'miss' | 'stale' | 'coalesced' | 'stored'; readonly key: string }
  | { readonly type: 'bypass' }
  /** An entry was evicted because the cache was full. */
  | { readonly type: 'evicted'; readonly key: string }
  | { readonly type: 'invalidated'; readonly tags: readonly string[] | 'all' }
  | { readonly type: 'error'; readonly error: unknown }
  /** Something keeps operations out of the cache. Reported once; goes to `console.warn` if `onEvent` is missing. */
  | { readonly type: 'warning'; readonly warning: Error }

/** Specification: "Response cache configuration", durations in milliseconds. */
export interface ResponseCacheOptions {
  /**
   * Maximum number of entries in memory. The least recently used entries are evicted first. Default 10 000. 0 stores
   * nothing.
   */
  readonly maxSize?: number | undefined
  /**
   * Maximum number of bytes of all entries in memory. Expired entries are removed automatically; then the least
   * recently used entries are evicted. A response larger than a sixteenth of it is not stored. Default 67 108 864 (64
   * MiB). 0 stores nothing.
   */
  readonly maxBytes?: number | undefined
  /**
   * Lifetime of an entry in milliseconds. Default 60 000. 0: only what `@cacheControl` allows. Values over a year,
   * such as `Infinity`, mean a year.
   */
  readonly defaultTtlMs?: number | undefined
  /**
   * Milliseconds after expiry in which an entry is still served while one refresh runs in the background. Default 0:
   * an expired entry is a miss.
   */
  readonly staleWhileRevalidateMs?: number | undefined
  /** Whether a mutation evicts affected entries before its response is sent. Default true. */
  readonly invalidateOnMutation?: boolean | undefined
  /**
   * `redis://` or `rediss://` URL of a Redis shared with other gateways; needs the package `ioredis`. Throws at
   * startup if the URL is invalid. Default: memory only.
   */
  readonly redisUrl?: string | undefined
  /** A custom shared store, or `createRedisStore(...)`, instead of `redisUrl`. */
  readonly store?: RemoteStore | undefined
  /**
   * Request headers that are part of the key, in addition to headers that a source of a selected field reads
   * (`extensions.variesBy`). Default `['Authorization']`. Requests with cookies are not cached unless the list
   * contains `Cookie` or `session` is set, because a cookie can identify the caller.
   */
  readonly varyHeaders?: readonly string[] | undefined
  /**
   * Names of request headers, and paths such as `req.user`, that code reads but that do not affect responses, for
   * example in a logger. `['*']` disables the recording of reads. Default: a response is not stored if code read a
   * part of the request that is not in the key, and a warning names that part. Not needed with `session`.
   */
  readonly ignoredReads?: readonly string[] | undefined
  /**
   * Part of every key, for servers that share a store and a schema but use different backends or different
   * credentials for them. An eviction by one of the servers affects all of them. Default: none.
   */
  readonly prefix?: string | undefined
  /** Selects the entries that a change evicts. Default `types`. */
  readonly strategy?: InvalidationStrategy | undefined
  /** Events published on this bus evict entries in the phase `evict`, before live queries re-execute. */
  readonly bus?: InvalidationBus | undefined
  /**
   * Fields that identify an entity, in order of preference. Default: `extensions.idFields` of the schema, or `['id']`.
   */
  readonly idFields?: readonly string[] | undefined
  /**
   * Lifetimes in milliseconds by schema coordinate of any type or field: `{ 'Query.users': 5_000, User: 10_000 }`.
   * The shortest of these and `@cacheControl` overrides `defaultTtlMs`. A value for a root type applies to all its
   * fields; a value for an interface or its field applies to all implementations. With 0,
   * operations that can return the type or field are not cached.
   */
  readonly ttlMsBySchemaCoordinate?: Readonly<Record<string, number | undefined>> | undefined
  /**
   * Returns a string that identifies the caller. It is part of the key, and `scope: PRIVATE` requires it. Null means
   * that the caller is unknown; the headers in `varyHeaders` still distinguish callers. `Cache-Control` is `private`
   * for all responses, including those for unknown callers, because caches between server and client cannot evaluate
   * this function. It receives the complete context, so hits are served after context building instead of before
   * parsing.
   */
  readonly session?: ((context: Record<string, unknown>) => string | null | undefined) | undefined
  /**
   * For servers with field rules: returns who can share the responses of an operation, called once for each document.
   * Undefined means everyone with equal headers and an equal `session`. Default: no field rules.
   */
  readonly access?:
    | ((operation: {
        readonly schema: GraphQLSchema
        readonly document: DocumentNode
      }) => OperationAccess | undefined)
    | undefined
  /**
   * Returns false to bypass the cache for a request. It receives the complete context, like `session`, and
   * `Cache-Control` is `private` for all responses, as with `session`.
   */
  readonly enabled?: ((context: Record<string, unknown>) => boolean) | undefined
  /**
   * Whether `Cache-Control` lets HTTP clients reuse a GET response for the rest of its lifetime. Such clients do not
   * see invalidations. Default false: they revalidate by ETag.
   */
  readonly clientMaxAge?: boolean | undefined
  /**
   * Whether `x-cache-reason` tells clients why a response did not come from the cache. Default: true if `NODE_ENV` is
   * `development`.
   */
  readonly exposeReasons?: boolean | undefined
  /** Receives every event of the cache. Must not throw. */
  readonly onEvent?: ((event: CacheEvent) => void) | undefined
  /** Replaces parts of the platform in tests. Default: the system clock. */
  readonly platform?: { readonly clock?: Pick<Clock, 'now' | 'wallNow'> | undefined } | undefined
}
