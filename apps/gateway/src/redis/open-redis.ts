import type { ConnectRedis, RedisClient } from '@vinyasa/invalidation/redis'

export interface OpenRedisOptions {
  readonly connect: ConnectRedis
  /** Told once each time that it cannot be reached. */
  readonly onError: (error: unknown) => void
}

/** A client that never lets a request wait: what Redis does not answer at once, the gateway does without. */
export function openRedis({ connect, onError }: OpenRedisOptions): RedisClient {
  const settings = {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: 250,
    disconnectTimeout: 100,
    retryStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
  }
  const client = connect(settings, 'commands')
  let isTold = false
  client.on('ready', () => (isTold = false))
  client.on('error', (error) => {
    if (!isTold) onError(error)
    isTold = true
  })
  return client
}
