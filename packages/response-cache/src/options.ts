import { type Clock } from '@vinyasa/base'
import type { InvalidationBus, InvalidationEvent } from '@vinyasa/invalidation'
import type { RemoteStore } from './store/remote-store.ts'
import type { InvalidationTarget } from './store/tags.ts'
import type { DocumentNode, GraphQLSchema } from 'graphql'

/** A change, as an invalidation function is told of it. */
export interface InvalidationCause {
  /** A mutation executed here, or events on the bus. */
  readonly source: 'mutation' | 'event'
  /** The types that the mutation changes, or that the events name. `*`: nothing says which. */
  readonly types: readonly string[]
  /** The changed entities by the mutation's result or the events; without `id` any of the type, `*` any at all. */
  readonly entities: readonly InvalidationTarget[]
  /** The events; empty for a mutation. */
  readonly events: readonly InvalidationEvent[]
}

/**
 * Which entries are related to a change.
 * `types`: those that depend on one of the changed types (default); see the README for what an answer depends on.
 * `entities`: those that depend on a changed entity, by type and id. A change without an id, or a `create` event, hits
 * the type; lists, wrappers and what is not there depend on every entity of their types.
 * `all`: every entry.
 * A function returns the targets itself, or `all`; an empty list evicts nothing.
 */
export type InvalidationStrategy =
  | 'types'
  | 'entities'
  | 'all'
  | ((cause: InvalidationCause) => readonly InvalidationTarget[] | 'all')

/** The rule for sharing the answers of one operation, where rules say who may have them. */
export interface OperationAccess {
  /** Request headers by which that is decided, in lower case: `Vary` names these. */
  readonly headers: readonly string[]
  /**
   * Returns a key: clients for whom it is equal share an answer, which is private. `null`: who asks is refused a part, and
   * neither gets a stored answer nor leaves one. The context may not be finished: it is what the hooks of the
   * request made of it. Default: other headers that sources read are made of these, and tell clients apart.
   */
  readonly keyOf?: ((context: Record<string, unknown>) => string | null) | undefined
}

/** One thing that the cache did, for logs and metrics. */
export type CacheEvent =
  | { readonly type: 'hit' | 'miss' | 'stale' | 'coalesced' | 'stored'; readonly key: string }
  | { readonly type: 'bypass' }
  /** An entry left because the cache was full. */
  | { readonly type: 'evicted'; readonly key: string }
  | { readonly type: 'invalidated'; readonly tags: readonly string[] | 'all' }
  | { readonly type: 'error'; readonly error: unknown }
  /** Said once: something keeps operations out of the cache. Without `onEvent` it goes to `console.warn`. */
  | { readonly type: 'warning'; readonly warning: Error }

/** Specification: "Response cache configuration", durations in milliseconds. */
export interface ResponseCacheOptions {
  /** Most entries kept in memory; the least recently used leave first. Default 10 000. 0 stores nothing. */
  readonly maxSize?: number | undefined
  /**
   * Most bytes of all entries kept in memory; the least recently used leave first, and those that expired by themselves.
   * An answer larger than a sixteenth of it is not stored. Default 67 108 864 (64 MiB). 0 stores nothing.
   */
  readonly maxBytes?: number | undefined
  /**
   * Milliseconds for which an entry is fresh. Default 60 000. 0: only what `@cacheControl` allows. `Infinity`, as whatever
   * is more than a year, is a year.
   */
  readonly defaultTtlMs?: number | undefined
  /**
   * Milliseconds after that in which the entry is still served while one refresh runs behind it.
   * Default 0: an expired entry is a miss.
   */
  readonly staleWhileRevalidateMs?: number | undefined
  /** Whether a mutation evicts the entries related to it before its answer goes out. Default true. */
  readonly invalidateOnMutation?: boolean | undefined
  /**
   * `redis://` or `rediss://` address of a Redis shared with other gateways; needs the package
   * `ioredis`. Throws at start when it is not such an address. Default: memory only.
   */
  readonly redisUrl?: string | undefined
  /** A shared store of your own, or `createRedisStore(...)`, in place of `redisUrl`. */
  readonly store?: RemoteStore | undefined
  /**
   * Request headers that are part of the key, besides those that a source of a selected field reads
   * (`extensions.variesBy`). Default `['Authorization']`. Where `Cookie` is not among them and `session` is not set,
   * requests with cookies are not cached: a cookie may say who asks.
   */
  readonly varyHeaders?: readonly string[] | undefined
  /**
   * Names of request headers, and paths such as `req.user`, that code reads although no response depends on them; a
   * logger reads such. `['*']`: reads are not recorded. Default: a response is not stored if code read something of the
   * request that is not part of the key, and a warning names it. `session` makes this unnecessary.
   */
  readonly ignoredReads?: readonly string[] | undefined
  /**
   * Part of every key. For servers that share a store and a schema, but stand in front of other backends, or ask them
   * in another name. What one of them evicts, all do. Default: none.
   */
  readonly prefix?: string | undefined
  /** Which entries a change evicts. Default `types`. */
  readonly strategy?: InvalidationStrategy | undefined
  /** Events published here evict in the bus's first phase. */
  readonly bus?: InvalidationBus | undefined
  /** Fields that identify an entity, in order of preference. Default `['id']`. */
  readonly idFields?: readonly string[] | undefined
  /**
   * Types whose presence in a document keeps its result out of the cache: those it selects on, `Query` among them, those
   * its fields give, and their interfaces.
   */
  readonly ignoredTypes?: readonly string[] | undefined
  /**
   * Lifetimes by schema coordinate, in milliseconds: `{ 'Query.users': 5_000, User: 10_000 }`, of any type or field. The
   * shortest of these and `@cacheControl` wins over `defaultTtlMs`; what is stated of a root type or an interface, or of
   * an interface's field, counts for all that stand on it or implement it.
   */
  readonly ttlMsBySchemaCoordinate?: Readonly<Record<string, number | undefined>> | undefined
  /**
   * A text for whom the response is: part of the key, and the identity that `scope: PRIVATE` needs. Null: it knows nobody;
   * headers tell users apart nevertheless, as `varyHeaders` says. `Cache-Control` says `private` of all answers, of those for
   * nobody too: caches on the way cannot tell who is nobody.
   * It sees the finished context, so hits are answered after context building instead of before parse.
   */
  readonly session?: ((context: Record<string, unknown>) => string | null | undefined) | undefined
  /**
   * For servers that refuse fields: who may share the answers of an operation, asked once for each document; undefined:
   * everyone, as far as headers and `session` do not tell them apart. Default: there are no such rules.
   */
  readonly access?:
    | ((operation: {
        readonly schema: GraphQLSchema
        readonly document: DocumentNode
      }) => OperationAccess | undefined)
    | undefined
  /**
   * Return false to leave a request out of the cache altogether. Sees the finished context, as `session`, and as with that
   * `Cache-Control` says `private` of all answers.
   */
  readonly enabled?: ((context: Record<string, unknown>) => boolean) | undefined
  /**
   * Whether `Cache-Control` lets HTTP clients reuse a GET response for the rest of its lifetime. A
   * client that does so does not hear of invalidations. Default false: they revalidate by ETag.
   */
  readonly clientMaxAge?: boolean | undefined
  /**
   * Whether `x-cache-reason` tells clients why a response did not come from the cache. Default: whether `NODE_ENV` is
   * `development`.
   */
  readonly exposeReasons?: boolean | undefined
  /** Told of everything the cache does. Must not throw. */
  readonly onEvent?: ((event: CacheEvent) => void) | undefined
  /** Default: the platform's. */
  readonly clock?: Pick<Clock, 'now' | 'wallNow'> | undefined
}
