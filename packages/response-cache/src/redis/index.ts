export { createRedisStore } from './create-redis-store.ts'
export type { RedisStore } from './redis-store.ts'
