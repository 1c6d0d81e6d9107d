import type { InvalidationBus } from '@vinyasa/invalidation'
import { createResponseCache, type OwedInvalidations, type ResponseCache } from '@vinyasa/response-cache'
import type { GatewayConfig } from './config/types.ts'
import { cacheScope } from './dependencies/scope.ts'
import type { Logger } from './logger.ts'

export interface OpenCacheOptions {
  readonly bus: InvalidationBus
  readonly owed?: OwedInvalidations | undefined
  readonly logger: Logger
}

/** In memory; behind it Redis, where the config names one. */
export async function openCache(
  config: GatewayConfig,
  { bus, owed, logger }: OpenCacheOptions,
): Promise<ResponseCache | undefined> {
  const { responseCache = false, redisUrl } = config
  if (responseCache === false) return undefined
  const store =
    redisUrl === undefined
      ? undefined
      : (await import('@vinyasa/response-cache/redis')).createRedisStore({ url: redisUrl, owed })
  const options = responseCache === true ? {} : responseCache
  return createResponseCache({
    ...options,
    prefix: cacheScope(config, options),
    bus,
    store,
    onEvent(event) {
      if (event.type === 'error') logger.error(event.error, 'response cache')
      if (event.type === 'warning') logger.warn(event.warning.message)
    },
  })
}
