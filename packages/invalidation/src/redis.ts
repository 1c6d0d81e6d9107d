import { createRedisEventTarget } from '@graphql-yoga/redis-event-target'
import { Redis, type RedisOptions } from 'ioredis'
import {
  createDistributedInvalidationBus,
  type DistributedBusOptions,
  type DistributedInvalidationBus,
} from './bus/distributed-bus.ts'

const PULSE_MS = 1000

export interface RedisInvalidationBusOptions extends Omit<DistributedBusOptions, 'eventTarget'> {
  /** For example `redis://localhost:6379`. */
  readonly url: string
  /** Further options of ioredis for both connections, for example `tls`. */
  readonly redis?: RedisOptions | undefined
  /** Called when the channel is lost and when it is back, once for each change. */
  readonly onStateChange?: ((state: 'connected' | 'disconnected', error?: unknown) => void) | undefined
}

export interface RedisInvalidationBus extends DistributedInvalidationBus {
  /** Resolves when both connections stand for the first time. */
  readonly ready: Promise<void>
  close(): void
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The bus over Redis or Valkey. Without Redis it goes on serving this process; when the connection is back, everybody
 * is told that anything may have changed.
 */
export function createRedisInvalidationBus(options: RedisInvalidationBusOptions): RedisInvalidationBus {
  const { url, redis = {}, onStateChange = () => {}, onError = () => {}, ...rest } = options
  const common: RedisOptions = {
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), 1000),
    ...redis,
    enableOfflineQueue: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // Without an answer for this long the connection is given up and made anew.
    socketTimeout: 2 * PULSE_MS,
    // Closing a connection that is gone already holds the process for this long.
    disconnectTimeout: 100,
  }
  const publishClient = new Redis(url, { ...common, commandTimeout: 1000 })
  const subscribeClient = new Redis(url, { ...common, keepAlive: 1000 })
  const topics = new Set<string>()
  let state: 'connected' | 'disconnected' | undefined
  let subscribed = false
  let markReady: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    markReady = resolve
  })

  function setState(next: 'connected' | 'disconnected', error?: unknown): void {
    if (state === next) return
    state = next
    onStateChange(next, error)
  }

  function markConnected(): void {
    if (!subscribed || publishClient.status !== 'ready') return
    setState('connected')
    markReady()
  }

  async function publish(channel: string, message: string): Promise<void> {
    try {
      await publishClient.publish(channel, message)
    } catch (error) {
      // The others find the gap by the next heartbeat's count.
      setState('disconnected', error)
    }
  }

  async function resubscribe(): Promise<void> {
    try {
      if (topics.size > 0) await subscribeClient.subscribe(...topics)
    } catch (error) {
      // The connection broke again: its next `ready` tries again.
      return setState('disconnected', error)
    }
    subscribed = true
    // Only now: what came before was missed, what comes after is heard.
    await bus.resync()
    markConnected()
  }

  const eventTarget = createRedisEventTarget({
    publishClient: { publish } as unknown as Redis,
    subscribeClient: {
      on: (event: 'message', listener: (channel: string, message: string) => void) =>
        subscribeClient.on(event, listener),
      subscribe: (topic: string) => void topics.add(topic),
      unsubscribe: (topic: string) => void topics.delete(topic),
    } as unknown as Redis,
    serializer: { stringify: JSON.stringify, parse: parseJson },
  })
  const bus = createDistributedInvalidationBus({ ...rest, onError, eventTarget })

  // ioredis repeats a broken connection's error for each try; the state is told once.
  for (const client of [publishClient, subscribeClient]) {
    client.on('error', (error) => setState('disconnected', error))
    client.on('close', () => setState('disconnected'))
  }
  publishClient.on('ready', markConnected)
  subscribeClient.on('close', () => void (subscribed = false))
  subscribeClient.on('ready', () => void resubscribe())

  // A connection that only listens would not notice that nobody speaks any more.
  const pulse = setInterval(() => {
    if (subscribeClient.status === 'ready') subscribeClient.ping().catch(() => {})
  }, PULSE_MS).unref()

  function close(): void {
    clearInterval(pulse)
    bus.close()
    publishClient.disconnect()
    subscribeClient.disconnect()
  }

  return {
    ...bus,
    get isInTouch() {
      return state === 'connected' && bus.isInTouch !== false
    },
    ready,
    close,
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}

/** `createRedisEventTarget` would let a syntax error escape into the socket's handler. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
