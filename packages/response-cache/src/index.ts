export { useResponseCache } from './plugin.ts'
export { createResponseCache, type ResponseCache } from './response-cache.ts'
export { cacheControlTypeDefs } from './document/cache-control.ts'
export { cacheReasonOf } from './http/cache-headers.ts'
export type { CacheEvent, ResponseCacheOptions } from './options.ts'

// Adapters for custom stores.
export { fromEnvelopCache } from './store/envelop-cache.ts'
export type { CacheEntry, RemoteStore } from './store/entry.ts'
export {
  createUndeliveredInvalidations,
  type UndeliveredInvalidations,
} from './store/undelivered-invalidations.ts'
