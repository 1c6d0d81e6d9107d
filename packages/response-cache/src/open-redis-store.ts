import nodeModule from 'node:module'
import type { Redis } from 'ioredis'
import { redisClientMissing } from './errors.ts'
import { checkRedisUrl, ConnectedStore } from './redis/redis-store.ts'
import type { RemoteStore } from './store/entry.ts'

/**
 * Opens the store for `redisUrl`. The client library is loaded here only, so that servers and bundlers without Redis do
 * not need it.
 */
export function openRedisStore(url: string): RemoteStore {
  checkRedisUrl(url)
  let client: { readonly Redis: typeof Redis }
  try {
    client = nodeModule.createRequire(import.meta.url)('ioredis') as typeof client
  } catch (error) {
    throw redisClientMissing(error)
  }
  return new ConnectedStore((settings) => new client.Redis(url, settings), { url })
}
