export { connectRedis, type ConnectRedis } from './connect.ts'
export { createRedisInvalidationBus } from './redis-bus.ts'
