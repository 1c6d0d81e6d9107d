export { useResponseCache } from './plugin.ts'
export { createResponseCache, type PurgeTarget, type ResponseCache } from './response-cache.ts'
export { cacheControlTypeDefs } from './document/cache-control.ts'
export type {
  CacheEvent,
  InvalidationCause,
  InvalidationStrategy,
  OperationAccess,
  ResponseCacheOptions,
} from './options.ts'
export type { CacheStats } from './stats.ts'
export type { InvalidationTarget } from './store/tags.ts'
export type { ResponseCacheErrorCode } from './errors.ts'

// For integrators: stores of one's own.
export { fromEnvelopCache, type EnvelopCache, type EnvelopCacheRecord } from './store/envelop-cache.ts'
export type { RemoteEvent, RemoteRead, RemoteStore } from './store/remote-store.ts'
export {
  createUndeliveredInvalidations,
  type Delivery,
  type UndeliveredInvalidations,
} from './store/undelivered-invalidations.ts'
export type { CacheEntry } from './store/entry.ts'
export type { Tags } from './store/tags.ts'
