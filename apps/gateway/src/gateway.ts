import type { InvalidationBus } from '@vinyasa/invalidation'
import type { UndeliveredInvalidations } from '@vinyasa/response-cache'
import { createAccess } from './access/access.ts'
import type { GatewayConfig } from './config/types.ts'
import { pathsOf } from './http/paths.ts'
import { ConfigError, messageOf } from './errors.ts'
import type { Logger } from './logging/logger.ts'
import { createObservability } from './observability/observability.ts'
import type { ShareMetrics } from './observability/metrics/shared-metrics.ts'
import { lateReadings } from './observability/metrics/late-readings.ts'
import { configuredRedis } from './redis/servers.ts'
import { configuredBroker } from './bus/broker.ts'
import { openBus } from './bus/open-bus.ts'
import { openCache } from './composition/open-cache.ts'
import type { ReachedBrokers } from './bus/reached-brokers.ts'
import { plainResolvers } from './schema/plain-resolvers.ts'
import { parseTypeDefs } from './schema/type-defs.ts'
import { SchemaConflictError } from '@vinyasa/source-kit'
import { pathOfOrigin } from './sources/elements.ts'
import { openSources } from './sources/open-sources.ts'
import type { Source, SourceHealth } from './sources/source.ts'
import { compose, type Gateway } from './composition/compose.ts'

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
  const cache = await openCache(config, { ...options, bus, redis: shared, access: access.cache })
  let sources: readonly Source[] = []
  const readings = lateReadings(() => sources, options.lostLogLines)
  const observability = await createObservability({
    config,
    logger,
    readings,
    paths,
    shareMetrics: options.shareMetrics,
  })
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
