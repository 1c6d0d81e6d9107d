export { connectRedis, type ConnectRedis, type RedisClient } from './connect.ts'
export { createRedisInvalidationBus } from './redis-bus.ts'
