import { createRequire } from 'node:module'
import { configError, redisClientMissing } from './errors.ts'
import { isRedisUrl } from './redis-url.ts'
import type { RemoteEvent, RemoteStore } from './remote-store.ts'

/**
 * Opens the store behind `redisUrl`. What can be judged at start is judged at start; the client library
 * is loaded only here, so that a cache without Redis does not need it.
 */
export function openRedisStore(url: string): RemoteStore {
  if (!isRedisUrl(url)) throw configError('redisUrl', url, 'an address such as redis://localhost:6379')
  try {
    createRequire(import.meta.url).resolve('ioredis')
  } catch (error) {
    throw redisClientMissing(error)
  }
  const opening = import('./redis/index.ts').then(({ createRedisStore }) => createRedisStore({ url }))
  return {
    read: async (key) => (await opening).read(key),
    write: async (key, entry, version) => (await opening).write(key, entry, version),
    invalidate: async (tags) => (await opening).invalidate(tags),
    delete: async (key) => (await opening).delete(key),
    close: async () => (await opening).close(),
    subscribe(listener: (event: RemoteEvent) => void) {
      let leave: (() => void) | undefined
      let hasLeft = false
      listener({ type: 'down', error: undefined })
      async function join() {
        const store = await opening
        if (!hasLeft) leave = store.subscribe?.(listener)
      }
      join().catch((error: unknown) => listener({ type: 'down', error }))
      return () => {
        hasLeft = true
        leave?.()
      }
    },
  }
}
