import type { InvalidationBus } from '@vinyasa/invalidation'
import {
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
  type UndeliveredInvalidations,
} from '@vinyasa/response-cache'
import type { GatewayConfig } from '../config/types.ts'
import { cacheScope } from './cache-scope.ts'
import type { Logger } from '../logging/logger.ts'
import type { ConfiguredRedis } from '../redis/servers.ts'

export interface OpenCacheOptions {
  readonly bus: InvalidationBus
  readonly redis: ConfiguredRedis | undefined
  readonly undelivered?: UndeliveredInvalidations | undefined
  readonly logger: Logger
  /** What the rules of access add to the config's options. */
  readonly access: Pick<ResponseCacheOptions, 'access' | 'varyHeaders'>
}

/** In memory; behind it Redis, where the config names one. */
export async function openCache(
  config: GatewayConfig,
  { bus, redis, undelivered, logger, access }: OpenCacheOptions,
): Promise<ResponseCache | undefined> {
  const { responseCache = false } = config
  if (responseCache === false) return undefined
  const store =
    redis &&
    (await import('@vinyasa/response-cache/redis')).createRedisStore({ connect: redis.connect, undelivered })
  const options = responseCache === true ? {} : responseCache
  return createResponseCache({
    ...options,
    ...access,
    prefix: cacheScope(config, options),
    bus,
    store,
    // The sources and the config's own code declare what they read, and code is held to it.
    ignoredReads: ['*'],
    exposeReasons: config.preset !== 'production',
    onEvent(event) {
      if (event.type === 'error') logger.error(event.error, 'response cache failed')
      if (event.type === 'warning') logger.warn(event.warning.message)
    },
  })
}
