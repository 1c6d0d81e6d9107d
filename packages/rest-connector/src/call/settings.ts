import { createInvalidationBus, createMutationAnnouncer } from '@vinyasa/invalidation'
import { type Clock, createAttachment, createTurns, keyed, limitFreshness, systemClock } from '@vinyasa/base'
import type { RestResponse } from '../http/attempt.ts'
import { createBreaker } from '../retry/breaker.ts'
import type { CallSettings } from './calling.ts'
import { atPlace } from '../errors.ts'
import { statedFreshMs } from './cache/cache-control.ts'
import { createFlights } from './cache/flights.ts'
import { createForwardHeaders } from '../http/forward-headers.ts'
import { createBodyLog } from './log-bodies.ts'
import { createOperationLimit } from './operation-limit.ts'
import { headerSourcesOf } from '../interceptors/set-headers.ts'
import type { RestConnectorOptions } from '../options.ts'
import type { EndpointDefaults } from '../declare/endpoint.ts'
import { createResponseCache, freeze } from './cache/response-cache.ts'
import { createRetryBudget } from '../retry/retry-budget.ts'
import { retryPresets, type RetryOptions } from '../retry/retry-policy.ts'
import { createCounters } from './stats.ts'
import { compileHeaders } from '../templates/header-template.ts'
import { parseBaseUrl } from '../declare/base-url.ts'
import { createTransport } from '#http-client'

export interface ConnectorSettings extends Omit<EndpointDefaults, 'types'> {
  /** Evicts what changes made old, until it is called. */
  readonly leaveBus: () => void
  readonly settings: Omit<CallSettings, 'typesOf' | 'named'>
}

/** Puts in the defaults, checks what can be checked, and opens what the connector's calls share. */
export function createSettings(connector: string, options: RestConnectorOptions): ConnectorSettings {
  const { timeoutMs = 30_000, defaultHeaders = {}, transformer, observe } = options
  const { totalTimeoutMs, maxResponseBytes = 10_000_000 } = options
  const { maxResponseItems = 500_000 } = options
  const { interceptors = [], allowOriginChange = false, forwardHeaders = [], exposeErrors = false } = options
  const { cacheSize = 0, cacheMaxBytes = 64 * 1024 * 1024, cacheTtlMs = 60_000 } = options
  const { maxRequestsPerOperation = 200, maxConnections = 128, maxConnectionAgeMs = 30_000 } = options
  const { clock = systemClock, random = Math.random, env = process.env, logger = console } = options
  const { bus = createInvalidationBus(), limitsResponseCache = true } = options
  const home = atPlace(['baseUrl'], () => parseBaseUrl(options.baseUrl))
  const { basePath } = home
  atPlace(['defaultHeaders'], () => compileHeaders(defaultHeaders))
  const retry = atPlace(['retry'], () => retryOf(options))
  const forward = createForwardHeaders(forwardHeaders)
  const logBody = atPlace(['logBodies'], () => createBodyLog(options.logBodies, logger, env))
  const counters = createCounters()
  const isInTouch = (): boolean => bus.isInTouch !== false
  const cache = createResponseCache({
    size: cacheSize,
    maxBytes: cacheMaxBytes,
    ttlMs: cacheTtlMs,
    clock,
    isInTouch,
    maxAgeMs: () => bus.maxAgeMs ?? Infinity,
  })
  const flights = createFlights<RestResponse>({
    onShared: () => void counters.shared++,
    mayJoin: isInTouch,
    share: freeze,
  })
  const { origin } = home.base
  const transport = createTransport({
    origin,
    maxResponseBytes,
    maxConnections,
    maxConnectionAgeMs,
    clock,
    env,
  })
  return {
    leaveBus: bus.subscribe((events) => cache.evict(new Set(events.map((event) => event.entityType))), {
      phase: 'evict',
    }),
    basePath,
    timeoutMs,
    defaultHeaders,
    settings: {
      connector,
      random,
      retry,
      budget: createRetryBudget(clock),
      breaker: createBreaker(options.breaker, (state) =>
        logger.info(`REST connector "${connector}": the circuit breaker is ${state}`, {
          origin: home.base.origin,
        }),
      ),
      totalTimeoutMs,
      attempting: {
        transport,
        clock,
        origin,
        maxResponseBytes,
        maxResponseItems,
        turns: createTurns(),
      },
      preparing: { ...home, interceptors, headerSources: headerSourcesOf(interceptors), allowOriginChange },
      reading: { cache, flights, counters },
      limit: limitsResponseCache ? createLimit(clock) : undefined,
      forward,
      transformer,
      operationLimit: createOperationLimit(connector, maxRequestsPerOperation),
      logBody,
      observe,
      exposeErrors,
      announcer: createMutationAnnouncer({ bus, forget: flights.forget, clock: options.clock }),
    },
  }
}

function createLimit(clock: Clock): CallSettings['limit'] {
  // A response is used again from the connector's cache: its lifetime began when it arrived.
  const untilOf = keyed((response: RestResponse) => {
    const freshMs = statedFreshMs(response, clock.wallNow())
    return freshMs === undefined ? Infinity : freshMs > 0 ? clock.now() + freshMs : -Infinity
  }, createAttachment())
  return (response, context) => {
    const until = untilOf(response)
    if (until < Infinity) limitFreshness(context, until)
  }
}

function retryOf({ noRetry = false, retry = {} }: RestConnectorOptions): RetryOptions {
  if (noRetry) return retryPresets.disabled
  const preset = retryPresets.default
  const { maxRetries = preset.maxRetries, initialBackoffMs = preset.initialBackoffMs } = retry
  const { maxBackoffMs = preset.maxBackoffMs, multiplier = preset.multiplier } = retry
  const { retryStatuses = preset.retryStatuses } = retry
  return { maxRetries, initialBackoffMs, maxBackoffMs, multiplier, retryStatuses }
}
