export {
  connectRedis,
  type ConnectRedis,
  type RedisClient,
  type RedisRole,
  type RedisServers,
} from './connect.ts'
export { createRedisInvalidationBus, type RedisInvalidationBusOptions } from './redis-bus.ts'
