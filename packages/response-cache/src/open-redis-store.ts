import nodeModule from 'node:module'
import type { Redis } from 'ioredis'
import { redisClientMissing } from './errors.ts'
import { checkRedisUrl } from './store/redis-url.ts'
import type { RemoteEvent, RemoteStore } from './store/remote-store.ts'

/**
 * Opens the store behind `redisUrl`. What can be judged at start is judged at start; the client library
 * is loaded only here, so that a cache without Redis does not need it.
 */
export function openRedisStore(url: string): RemoteStore {
  checkRedisUrl(url)
  try {
    nodeModule.createRequire(import.meta.url).resolve('ioredis')
  } catch (error) {
    throw redisClientMissing(error)
  }
  const opening = open(url)
  return {
    read: async (key) => (await opening).read(key),
    write: async (key, entry, version) => (await opening).write(key, entry, version),
    invalidate: async (tags, name) => (await opening).invalidate(tags, name),
    delete: async (key) => (await opening).delete(key),
    changing: async () => (await (await opening).changing?.()) ?? (() => {}),
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

async function open(url: string): Promise<RemoteStore> {
  // Inside `try`, a bundler leaves an optional client out that is not installed, and says nothing.
  let client: { readonly Redis: typeof Redis }
  try {
    client = await import('ioredis')
  } catch (error) {
    throw redisClientMissing(error)
  }
  const { ConnectedStore } = await import('./redis/redis-store.ts')
  return new ConnectedStore((settings) => new client.Redis(url, settings), { url })
}
