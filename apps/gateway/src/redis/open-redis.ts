import type { ConnectRedis } from '@vinyasa/invalidation/redis'
import type { Outage } from '../logging/outage.ts'

/** A Redis that requests share, and who is told of whatever fails there. */
export interface SharedRedis {
  readonly client: ReturnType<ConnectRedis>
  readonly outage: Outage
}

/** A client that never lets a request wait: what Redis does not answer at once, the gateway does without. */
export function openRedis(connect: ConnectRedis, outage: Outage): SharedRedis {
  const settings = {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    // A connection whose other end is gone without a word would be kept for as long as the system sends again.
    socketTimeout: 2_000,
    commandTimeout: 250,
    disconnectTimeout: 100,
    retryStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
  }
  const client = connect(settings, 'commands')
  client.on('ready', () => outage.worked())
  client.on('error', (error) => outage.failed(error))
  return { client, outage }
}
