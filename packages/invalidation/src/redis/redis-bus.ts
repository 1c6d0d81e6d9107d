import { type KnownOptions, refuseWrongOptions, text } from '@vinyasa/core'
import { Redis, type RedisOptions } from 'ioredis'
import {
  createBrokerBus,
  type BrokerBus,
  type BrokerBusOptions,
  type BrokerClient,
  type BrokerLink,
} from '../bus/broker-bus.ts'
import { type BusInternals, DISTRIBUTED_OPTIONS } from '../bus/distributed-bus.ts'
import type { ConnectRedis } from './connect.ts'

const PULSE_MS = 1000

export interface RedisInvalidationBusOptions extends BrokerBusOptions {
  /** URL of the server, for example `redis://localhost:6379`. Required without `connect`. */
  readonly url?: string | undefined
  /**
   * Opens both connections, for example `connectRedis({ cluster: ['a:6379', 'b:6379'] })`. Default: connects to
   * `url`.
   */
  readonly connect?: ConnectRedis | undefined
  /** Additional ioredis options for both connections, for example `tls`. */
  readonly redis?: RedisOptions | undefined
}

const NAMES: KnownOptions<RedisInvalidationBusOptions> = {
  ...DISTRIBUTED_OPTIONS,
  url: text,
  connect: true,
  redis: true,
}

/**
 * Creates an invalidation bus over Redis or Valkey. It is connected while both of its connections are open. See
 * {@link BrokerBus}.
 */
export function createRedisInvalidationBus(options: RedisInvalidationBusOptions): BrokerBus {
  refuseWrongOptions('createRedisInvalidationBus', options, NAMES)
  return openRedisBus(options)
}

export function openRedisBus(options: RedisInvalidationBusOptions, internals?: BusInternals): BrokerBus {
  const { url, connect = connectTo(url), redis = {}, ...rest } = options
  return createBrokerBus(rest, (link) => openRedis(link, connect, redis), internals)
}

function openRedis(link: BrokerLink, connect: ConnectRedis, redis: RedisOptions): BrokerClient {
  const common: RedisOptions = {
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), 1000),
    ...redis,
    enableOfflineQueue: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // The connection is replaced if Redis does not respond for this time.
    socketTimeout: 2 * PULSE_MS,
    // Closing a broken connection keeps the process running for this time.
    disconnectTimeout: 100,
  }
  const publisher = connect({ ...common, commandTimeout: 1000 }, 'commands')
  const subscriber = connect({ ...common, keepAlive: 1000 }, 'subscriber')
  let isSubscribed = false

  function tellIfConnected(): void {
    if (isSubscribed && publisher.status === 'ready') link.connected()
  }

  async function publish(channel: string, text: string): Promise<boolean> {
    try {
      await publisher.publish(channel, text)
      // A cluster emits no event for a recovered node.
      tellIfConnected()
      return true
    } catch (error) {
      // The other processes detect the gap by the count of the next heartbeat.
      link.disconnected(error)
      return false
    }
  }

  async function subscribe(): Promise<void> {
    try {
      await subscriber.subscribe(...link.channels)
    } catch (error) {
      // The connection broke again. The next `ready` event triggers another attempt.
      return link.disconnected(error)
    }
    isSubscribed = true
    await link.catchUp()
    tellIfConnected()
  }

  subscriber.on('messageBuffer', (_channel: Buffer, message: Buffer) => link.hear(message))
  // ioredis repeats the error of a broken connection for each attempt. The bus reports it once.
  for (const client of [publisher, subscriber]) {
    client.on('error', (error) => link.disconnected(error))
    client.on('close', () => link.disconnected())
  }
  publisher.on('ready', tellIfConnected)
  subscriber.on('close', () => void (isSubscribed = false))
  subscriber.on('ready', () => void subscribe())

  // A connection that only receives would not detect that its server is gone.
  const pulse = setInterval(() => {
    if (subscriber.status === 'ready') subscriber.ping().catch(() => {})
  }, PULSE_MS).unref()

  return {
    publish,
    close() {
      clearInterval(pulse)
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}

function connectTo(url: string | undefined): ConnectRedis {
  if (url === undefined) throw new TypeError('The Redis bus needs `url` or `connect`.')
  return (options) => new Redis(url, options)
}
