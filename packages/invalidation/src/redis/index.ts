export { connectRedis, type ConnectRedis, type RedisClient } from './connect.ts'
export { createRedisInvalidationBus, type RedisInvalidationBusOptions } from './redis-bus.ts'
