import type { InvalidationBus } from '@vinyasa/invalidation'
import {
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
  type UndeliveredInvalidations,
} from '@vinyasa/response-cache'
import type { GatewayConfig } from './config/types.ts'
import { cacheScope } from './dependencies/scope.ts'
import type { Logger } from './logging/logger.ts'

export interface OpenCacheOptions {
  readonly bus: InvalidationBus
  readonly undelivered?: UndeliveredInvalidations | undefined
  readonly logger: Logger
  /** What the rules of access add to the config's options. */
  readonly access: Pick<ResponseCacheOptions, 'access' | 'varyHeaders'>
}

/** In memory; behind it Redis, where the config names one. */
export async function openCache(
  config: GatewayConfig,
  { bus, undelivered, logger, access }: OpenCacheOptions,
): Promise<ResponseCache | undefined> {
  const { responseCache = false, redisUrl } = config
  if (responseCache === false) return undefined
  const store =
    redisUrl === undefined
      ? undefined
      : (await import('@vinyasa/response-cache/redis')).createRedisStore({ url: redisUrl, undelivered })
  const options = responseCache === true ? {} : responseCache
  return createResponseCache({
    ...options,
    ...access,
    prefix: cacheScope(config, options),
    bus,
    store,
    onEvent(event) {
      if (event.type === 'error') logger.error(event.error, 'response cache')
      if (event.type === 'warning') logger.warn(event.warning.message)
    },
  })
}
