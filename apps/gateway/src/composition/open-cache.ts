import type { InvalidationBus } from '@vinyasa/invalidation'
import {
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
  type UndeliveredInvalidations,
} from '@vinyasa/response-cache'
import type { GatewayConfig } from '../config/types.ts'
import type { Logger } from '../logging/logger.ts'
import type { ConfiguredRedis } from '../redis/servers.ts'
import { hash } from 'node:crypto'
import type { ResponseCacheConfig } from '../answers/answer-types.ts'

/** Descriptors are part of the schema. */
const ASIDE = new Set(['protoMetadata', 'descriptorSet'])

/**
 * Returns a hash that sets the cached answers of this gateway apart from those of others on the same Redis,
 * made of its sources, with their addresses, static headers and code, and of the config's own `prefix`.
 */
function cacheScope({ grpc, rest, resolvers }: GatewayConfig, { prefix }: ResponseCacheConfig): string {
  const text = describe([prefix ?? null, grpc, rest, resolvers], [])
  return hash('sha256', text, 'base64url')
}

function describe(value: unknown, within: readonly unknown[]): string {
  if (typeof value === 'function') return `${String(value)} ${members(value, within)}`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? typeof value
  if (within.includes(value)) return 'circle'
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return `[${value.map((item) => describe(item, [...within, value])).join(',')}]`
  return members(value, within)
}

function members(value: object, within: readonly unknown[]): string {
  const inside = [...within, value]
  const entries = Object.entries(value)
    .filter(([name]) => !ASIDE.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${describe(member, inside)}`).join(',')}}`
}

export interface OpenCacheOptions {
  readonly bus: InvalidationBus
  readonly redis: ConfiguredRedis | undefined
  readonly undelivered?: UndeliveredInvalidations | undefined
  readonly logger: Logger
  /** What the rules of access add to the config's options. */
  readonly access: Pick<ResponseCacheOptions, 'access' | 'varyHeaders'>
}

/** In memory; behind it Redis, where the config names one. */
export async function openCache(
  config: GatewayConfig,
  { bus, redis, undelivered, logger, access }: OpenCacheOptions,
): Promise<ResponseCache | undefined> {
  const { responseCache = false } = config
  if (responseCache === false) return undefined
  const store =
    redis &&
    (await import('@vinyasa/response-cache/redis')).createRedisStore({ connect: redis.connect, undelivered })
  const options = responseCache === true ? {} : responseCache
  return createResponseCache({
    ...options,
    ...access,
    prefix: cacheScope(config, options),
    bus,
    store,
    // The sources and the config's own code declare what they read, and code is held to it.
    ignoredReads: ['*'],
    exposeReasons: config.preset !== 'production',
    onEvent(event) {
      if (event.type === 'error') logger.error(event.error, 'response cache failed')
      if (event.type === 'warning') logger.warn(event.warning.message)
    },
  })
}
