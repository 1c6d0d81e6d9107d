export { createRedisStore, type RedisStore } from './redis-store.ts'
export type { RedisStoreOptions } from './options.ts'
