import { atLeast, type KnownOptions, text, wrongOption } from '@vinyasa/core'
import { Redis } from 'ioredis'
import { wrongOptions } from '../errors.ts'
import { checkRedisUrl } from '../store/redis-url.ts'
import { ConnectedStore, type RedisStore, type RedisStoreOptions } from './redis-store.ts'

const NAMES: KnownOptions<RedisStoreOptions> = {
  url: text,
  connect: true,
  prefix: text,
  commandTimeoutMs: atLeast(0),
  heartbeatMs: atLeast(0),
  rememberMs: atLeast(0),
  undelivered: true,
}

/**
 * Entries in a Redis shared between gateways. While Redis does not answer, requests are served without
 * any cache, and invalidations are kept; when it is back they are delivered before anything is read.
 */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const wrong = wrongOption(options, NAMES)
  if (wrong) throw wrongOptions(wrong)
  const { url, connect } = options
  if (connect) return new ConnectedStore(connect, options)
  checkRedisUrl(url)
  return new ConnectedStore((settings) => new Redis(url, settings), options)
}
