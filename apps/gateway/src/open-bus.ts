import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { ConfigError } from './errors.ts'
import type { Logger } from './logging/logger.ts'

export interface OpenedBus {
  readonly bus: InvalidationBus
  /** The Redis behind it, if there is one. */
  readonly redis?: (() => RedisState) | undefined
  close(): void
}

export interface RedisState {
  readonly connected: boolean
  /** Why not. */
  readonly reason?: string | undefined
}

/** For an address that does not answer at all; one that refuses is given up at once. */
const CONNECT_TIMEOUT_MS = 1500

/**
 * The bus of one gateway: in memory, or over Redis when there is more than one; workers share `memoryBus` in either
 * case, as Redis waits for nobody. Throws {@link ConfigError} when
 * Redis cannot be reached at the start; one that goes away later is logged, and the gateway goes on without it.
 */
export async function openBus(
  redisUrl: string | undefined,
  logger: Logger,
  memoryBus: InvalidationBus = createMemoryBus(logger),
): Promise<OpenedBus> {
  const onError = logListenerError(logger)
  if (redisUrl === undefined) return { bus: memoryBus, close: () => {} }
  const address = addressOf(redisUrl)
  const { createRedisInvalidationBus } = await import('@vinyasa/invalidation/redis')

  let lastError: unknown
  let ready = false
  let state: RedisState = { connected: true }
  const refused = new AbortController()
  const bus = createRedisInvalidationBus({
    url: redisUrl,
    near: memoryBus,
    onError,
    onStateChange(change, error) {
      lastError = error ?? lastError
      state = change === 'connected' ? { connected: true } : { connected: false, reason: reasonOf(error) }
      if (!ready) {
        if (isRefusal(error)) refused.abort()
        return
      }
      if (state.connected) logger.info({ redis: address }, 'redis is back; live queries run again')
      else
        logger.warn(
          { redis: address, reason: reasonOf(error) },
          'redis is lost; other gateways are not told of changes',
        )
    },
  })
  ready = await settlesWithin(
    bus.ready,
    AbortSignal.any([refused.signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]),
  )
  if (!ready) {
    bus.close()
    throw new ConfigError(
      `redisUrl: cannot connect to ${address} (${reasonOf(lastError)}); start Redis there, or correct the address`,
    )
  }
  return { bus, redis: () => state, close: () => bus.close() }
}

/** A bus for this process alone. */
export function createMemoryBus(logger: Logger): InvalidationBus {
  return createInvalidationBus({ onError: logListenerError(logger) })
}

function logListenerError(logger: Logger): (error: unknown) => void {
  return (error) => logger.error(error, 'an invalidation listener failed')
}

/** Host and port for people; a password in the URL is left out. */
function addressOf(redisUrl: string): string {
  const url = URL.canParse(redisUrl) ? new URL(redisUrl) : undefined
  if (!url || !/^rediss?:$/.test(url.protocol)) {
    throw new ConfigError('redisUrl: not a Redis address; expected redis://host:6379 or rediss://host:6379')
  }
  return url.host
}

/** Nobody listens there, or the name is none: waiting would not help. */
function isRefusal(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no answer'
}

async function settlesWithin(promise: Promise<unknown>, patience: AbortSignal): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => {
    patience.addEventListener('abort', () => resolve(false), { once: true })
  })
  return Promise.race([promise.then(() => true), late])
}
