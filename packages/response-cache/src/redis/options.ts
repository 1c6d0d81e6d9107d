import type { ConnectRedis } from '@vinyasa/invalidation/redis'
import type { UndeliveredInvalidations } from '../store/undelivered-invalidations.ts'

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with password and database number where needed. Needed where `connect` is not given. */
  readonly url?: string | undefined
  /**
   * Opens both connections with the options given, for example to a cluster: `connectRedis` of
   * `@vinyasa/invalidation/redis` makes one. Default: to `url`.
   */
  readonly connect?: ConnectRedis | undefined
  /** Before every key. Default `{vinyasa:cache}:`; the braces keep all keys in one slot of a cluster. */
  readonly prefix?: string | undefined
  /** Milliseconds after which a command counts as failed and the request goes on without. Default 140. */
  readonly commandTimeoutMs?: number | undefined
  /** Milliseconds between two checks of the connection. Default 1000. */
  readonly heartbeatMs?: number | undefined
  /**
   * Milliseconds for which invalidations are remembered. Must exceed the longest lifetime of an entry
   * plus the longest execution. Default one day. Older ones go 1,000 at a time, with invalidations and heartbeats.
   */
  readonly rememberMs?: number | undefined
  /**
   * Invalidations that Redis has yet to hear of: one of `createUndeliveredInvalidations()`, for all the
   * stores of one Redis in a process. A store that replaces another one then delivers what that one could
   * not, before it reads. Default: its own.
   */
  readonly undelivered?: UndeliveredInvalidations | undefined
}
