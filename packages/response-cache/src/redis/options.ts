import type { ConnectRedis } from '@vinyasa/invalidation/redis'
import type { UndeliveredInvalidations } from '../store/undelivered-invalidations.ts'

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with password and database number if needed. Required unless `connect` is set. */
  readonly url?: string | undefined
  /**
   * Opens both connections with the given options, for example to a cluster. Use `connectRedis` of
   * `@vinyasa/invalidation/redis`. Default: connects to `url`.
   */
  readonly connect?: ConnectRedis | undefined
  /** Prefix of every key. Default `{vinyasa:cache}:`; the braces keep all keys in one slot of a cluster. */
  readonly prefix?: string | undefined
  /** Timeout of a command in milliseconds. On timeout, the request continues without the cache. Default 140. */
  readonly commandTimeoutMs?: number | undefined
  /** Milliseconds between two checks of the connection. Default 1000. */
  readonly heartbeatMs?: number | undefined
  /**
   * Milliseconds for which invalidations are kept. Must exceed the longest lifetime of an entry plus the longest
   * execution. Default one day. Older invalidations are deleted 1,000 at a time, with invalidations and heartbeats.
   */
  readonly rememberMs?: number | undefined
  /**
   * Invalidations that Redis has not received yet: one `createUndeliveredInvalidations()` for all stores of one Redis
   * in a process. A store that replaces another store delivers its pending invalidations before it reads. Default: a
   * new object.
   */
  readonly undelivered?: UndeliveredInvalidations | undefined
}
