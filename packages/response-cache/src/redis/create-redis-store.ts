import { Redis } from 'ioredis'
import { configError } from '../errors.ts'
import { isRedisUrl, withoutLogin } from '../store/redis-url.ts'
import type { RedisStoreOptions } from './options.ts'
import { createStoreOn, type RedisStore } from './redis-store.ts'

/**
 * Entries in a Redis shared between gateways. While Redis does not answer, requests are served without
 * any cache, and invalidations are kept; when it is back they are delivered before anything is read.
 */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const { url, connect } = options
  if (connect) return createStoreOn(connect, options)
  if (url === undefined || !isRedisUrl(url))
    throw configError('redisUrl', url && withoutLogin(url), 'an address such as redis://localhost:6379')
  return createStoreOn((settings) => new Redis(url, settings), options)
}
