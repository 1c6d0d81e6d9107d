import { type KnownOptions, text, wrongOption } from '@vinyasa/core'
import { Redis } from 'ioredis'
import { wrongOptions } from '../errors.ts'
import {
  checkRedisUrl,
  ConnectedStore,
  type RedisStore,
  type RedisStoreOptions,
  type StoreTimes,
} from './redis-store.ts'

const NAMES: KnownOptions<RedisStoreOptions> = {
  url: text,
  connect: true,
  undelivered: true,
}

/**
 * Creates a store in a Redis that gateways share. While Redis does not respond, requests are served without the cache,
 * and invalidations are kept. They are delivered before the next read.
 */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const wrong = wrongOption(options, NAMES)
  if (wrong) throw wrongOptions(wrong)
  return openStore(options)
}

export function openStore(options: RedisStoreOptions, times?: StoreTimes): RedisStore {
  const { url, connect } = options
  if (connect) return new ConnectedStore(connect, options, times)
  checkRedisUrl(url)
  return new ConnectedStore((settings) => new Redis(url, settings), options, times)
}

export type { RedisStore } from './redis-store.ts'
