import type { Redis } from 'ioredis'

export interface OpenRedisOptions {
  readonly url: string
  /** Told once each time that it cannot be reached. */
  readonly onError: (error: unknown) => void
}

/** A client that never lets a request wait: what Redis does not answer at once, the gateway does without. */
export async function openRedis({ url, onError }: OpenRedisOptions): Promise<Redis> {
  const { Redis: Client } = await import('ioredis')
  const client = new Client(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: 250,
    disconnectTimeout: 100,
    retryStrategy: (attempt) => Math.min(50 * attempt, 1_000),
  })
  let isTold = false
  client.on('ready', () => (isTold = false))
  client.on('error', (error) => {
    if (!isTold) onError(error)
    isTold = true
  })
  return client
}
