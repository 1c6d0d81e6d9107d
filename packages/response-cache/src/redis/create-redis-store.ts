import { Redis } from 'ioredis'
import type { RedisStoreOptions } from './options.ts'
import { createStoreOn, type RedisStore } from './redis-store.ts'

/**
 * Entries in a Redis shared between gateways. While Redis does not answer, requests are served without
 * any cache, and invalidations are kept; when it is back they are delivered before anything is read.
 */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  return createStoreOn(Redis, options)
}
