export { useResponseCache } from './plugin.ts'
export { createResponseCache, type PurgeTarget, type ResponseCache } from './response-cache.ts'
export { cacheControlTypeDefs } from './cache-control.ts'
export type { CacheEvent, InvalidationCause, InvalidationStrategy, ResponseCacheOptions } from './options.ts'
export type { CacheStats } from './stats.ts'
export type { InvalidationTarget } from './tags.ts'
export type { ResponseCacheErrorCode } from './errors.ts'

// For integrators: stores of one's own.
export { fromEnvelopCache, type EnvelopCache, type EnvelopCacheRecord } from './envelop-cache.ts'
export type { RemoteEvent, RemoteRead, RemoteStore } from './remote-store.ts'
export { createOwedInvalidations, type Delivery, type OwedInvalidations } from './owed-invalidations.ts'
export type { CacheEntry } from './entry.ts'
export type { Tags } from './tags.ts'
