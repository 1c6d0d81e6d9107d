import type { InvalidationBus } from '@vinyasa/invalidation'
import {
  type UndeliveredInvalidations,
  createResponseCache,
  type ResponseCache,
} from '@vinyasa/response-cache'
import { type Access, createAccess } from './access/access.ts'
import type { GatewayConfig } from './config/types.ts'
import { pathsOf } from './http/paths.ts'
import { ConfigError, messageOf } from './errors.ts'
import type { Logger } from './logging/logger.ts'
import { createObservability } from './observability/observability.ts'
import type { ShareMetrics } from './observability/metrics/shared-metrics.ts'
import type { MetricsReadings } from './observability/metrics/metrics.ts'
import { configuredRedis, type ConfiguredRedis } from './redis/servers.ts'
import { configuredBroker } from './bus/broker.ts'
import { openBus } from './bus/open-bus.ts'
import type { ReachedBrokers } from './bus/reached-brokers.ts'
import { parseTypeDefs } from './schema/type-defs.ts'
import { SchemaConflictError } from '@vinyasa/source-kit'
import { pathOfOrigin } from './sources/elements.ts'
import { openSources } from './sources/open-sources.ts'
import type { Source, SourceHealth } from './sources/source.ts'
import { compose, type Gateway } from './composition/compose.ts'
import { hash } from 'node:crypto'
import type { ResponseCacheConfig } from './answers/answer-types.ts'
import type { IResolvers } from '@graphql-tools/utils'

type Members = Readonly<Record<string, unknown>>

/**
 * Returns the resolvers as plain objects, whatever the config has them in: module namespaces, instances of classes, objects
 * without a prototype, functions with properties. Methods of classes keep their `this`.
 */
function plainResolvers(resolvers: IResolvers): IResolvers {
  const types = Object.entries(membersOf(resolvers)).map(([name, given]) => [name, plainFields(given)])
  return Object.fromEntries(types) as IResolvers
}

function plainFields(given: unknown): unknown {
  if (!isMap(given)) return given
  const fields = Object.entries(membersOf(given)).map(([name, member]) => [
    name,
    typeof member === 'object' && isMap(member) && ('resolve' in member || 'subscribe' in member)
      ? membersOf(member)
      : member,
  ])
  return Object.fromEntries(fields)
}

/** Scalars and enums are instances of graphql's classes. A function without properties has no resolvers. */
function isMap(given: unknown): given is object {
  if (typeof given === 'function') return Object.keys(given).length > 0
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  return !Object.prototype.toString.call(given).startsWith('[object GraphQL')
}

function membersOf(given: object): Members {
  const members = new Map<string, unknown>()
  const add = (name: string): void => {
    const value: unknown = Reflect.get(given, name)
    const isMethod = typeof value === 'function' && !Object.hasOwn(given, name)
    if (!members.has(name)) members.set(name, isMethod ? (value.bind(given) as unknown) : value)
  }
  for (const name of Object.keys(given)) add(name)
  // The last prototype of a chain is the one that all objects have.
  for (
    let place: unknown = typeof given === 'function' ? null : Object.getPrototypeOf(given);
    place !== null && Object.getPrototypeOf(place) !== null;
    place = Object.getPrototypeOf(place)
  )
    for (const name of Object.getOwnPropertyNames(place)) if (name !== 'constructor') add(name)
  return Object.fromEntries(members)
}

export type { Gateway, SourceHealth }

export interface CreateGatewayOptions {
  /** Paths in the config are relative to this folder. */
  readonly baseDirectory: string
  readonly logger: Logger
  /**
   * Shared with the gateway that it replaces, and with other workers: a mutation that ends on one of them evicts here
   * too. Redis, if there is one, is for other gateways. Default: a bus of its own.
   */
  readonly bus?: InvalidationBus | undefined
  /**
   * For a gateway with Redis, shared likewise: what Redis could not be told while it did not answer is delivered before
   * this one reads from it. Default: its own.
   */
  readonly undelivered?: UndeliveredInvalidations | undefined
  /**
   * Shared likewise: brokers that were reached before. One that does not answer just then stops no reload, as it does not stop
   * the gateway that runs. Default: none.
   */
  readonly reachedBrokers?: ReachedBrokers | undefined
  /** Shared likewise: how many log lines could not be written since it was asked last, for the metrics. Default: none. */
  readonly lostLogLines?: (() => number) | undefined
  /**
   * Shared likewise: what the gateways before it have counted, and other workers, stays in its metrics. Default: they begin
   * with it.
   */
  readonly shareMetrics?: ShareMetrics | undefined
  /** Hears when more than 8 MiB are held of answers that are made, and when no longer. Default: nobody does. */
  readonly onLargeAnswers?: ((areHeld: boolean) => void) | undefined
}

/** Options that the cache scope leaves out: descriptors are part of the schema, which is in the scope. */
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

/** Opens the response cache in memory, with Redis as its store if the config has a Redis. */
async function openCache(
  config: GatewayConfig,
  bus: InvalidationBus,
  redis: ConfiguredRedis | undefined,
  access: Access['cache'],
  { undelivered, logger }: CreateGatewayOptions,
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

/** What does not fit together is told at the place of what was added last. */
function asConfigError(error: unknown, config: GatewayConfig): ConfigError {
  if (error instanceof ConfigError) return error
  const origins = error instanceof SchemaConflictError ? error.origins : []
  const path = origins.map((origin) => pathOfOrigin(origin, config)).findLast((one) => one !== undefined)
  return new ConfigError([{ message: messageOf(error), path }], { cause: error })
}

/**
 * Composes a gateway from a config. Throws {@link ConfigError} when a source cannot be opened or two of them
 * give one field; whatever was opened before is closed again.
 */
export async function createGateway(given: GatewayConfig, options: CreateGatewayOptions): Promise<Gateway> {
  const config = given.resolvers ? { ...given, resolvers: plainResolvers(given.resolvers) } : given
  const { baseDirectory, logger } = options
  const typeDefs = parseTypeDefs(config)
  const paths = pathsOf(config)
  const shared = await configuredRedis(config, baseDirectory)
  const carrier = await configuredBroker(config, shared, baseDirectory)
  const access = await createAccess(config, { logger, baseDirectory, redis: shared })
  const opened = await openBus(carrier, logger, options).catch((error: unknown) => {
    access.close()
    throw error
  })
  const { bus, broker, close: closeBus } = opened
  const cache = await openCache(config, bus, shared, access.cache, options)
  let sources: readonly Source[] = []
  const readings: MetricsReadings = {
    lostLogLines: options.lostLogLines ?? (() => 0),
    live: () => undefined,
    cacheBytes: () => undefined,
    breakers: () =>
      sources.flatMap(({ name, breaker }) => (breaker ? [{ source: name, state: breaker() }] : [])),
  }
  const observability = await createObservability({ ...options, config, readings, paths })
  const closeBackends = async (): Promise<void> => {
    access.close()
    await cache?.close()
    await Promise.all(sources.map((source) => source.close()))
    closeBus()
  }
  try {
    sources = await openSources(config, { baseDirectory, bus, logger, observability })
    return compose({
      config,
      logger,
      bus,
      broker,
      cache,
      sources,
      closeBackends,
      observability,
      readings,
      access,
      paths,
      typeDefs,
      onLargeAnswers: options.onLargeAnswers,
    })
  } catch (error) {
    await closeBackends()
    throw asConfigError(error, config)
  }
}
