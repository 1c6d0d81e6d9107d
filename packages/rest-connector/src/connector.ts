import { createTransport } from '#http-client'
import {
  backgroundClock,
  createAttachment,
  createTurns,
  keyed,
  limitFreshness,
  systemClock,
  type Clock,
} from '@vinyasa/core'
import {
  createDependencyCache,
  createInvalidationBus,
  createMutationAnnouncer,
  statedDependsOn,
  toVariesBy,
  type VariesBy,
} from '@vinyasa/invalidation'
import { type Meant, mergeSources, nameSource, type Source } from '@vinyasa/source-kit'
import { type GraphQLSchema, getNamedType, isAbstractType, isLeafType, isObjectType } from 'graphql'
import type { MutationField } from './call/announce.ts'
import { createCall, type Callable, type CallScope } from './call/call.ts'
import { contribute } from './fields/contribution.ts'
import { compileEndpoint, type CompiledEndpoint } from './declare/endpoint.ts'
import { atPlace, badInput, RestConfigError, restError } from './errors.ts'
import { refuseWrongOptions } from './known-options.ts'
import type { RestConnectorOptions } from './options.ts'
import { createResponseCache, freeze, type ResponseTypes } from './call/cache/response-cache.ts'
import { createCounters, type RestConnectorStats } from './call/stats.ts'
import type { Args } from './templates/template.ts'
import type { ReadsHeaders } from './interceptors/interceptor.ts'
import { headerSourcesOf } from './interceptors/set-headers.ts'
import { statedFreshMs } from './call/cache/cache-control.ts'
import { createFlights } from './call/cache/flights.ts'
import type { CallSettings } from './call/calling.ts'
import { createBodyLog } from './call/log-bodies.ts'
import type { RestResponse } from './http/attempt.ts'
import { createForwardHeaders } from './http/forward-headers.ts'
import { parseBaseUrl } from './http/transport.ts'
import { createBreaker } from './retry/breaker.ts'
import { createRetryBudget } from './retry/retry-budget.ts'
import { retryPresets, type RetryOptions } from './retry/retry-policy.ts'
import { compileHeaders } from './templates/header-template.ts'

/**
 * All types that a response is made of: a kept one holds every member, whatever was selected, entities inside entities
 * too, and what the schema's fields state. Fields that are fetched for themselves are no part of it. `any` where that
 * is nothing, or of types that the schema does not know.
 */
function responseTypesOf(
  { types: declared, returnType }: CompiledEndpoint,
  schema: GraphQLSchema,
  clientType: (own: string) => string,
): ResponseTypes {
  const found = new Set<string>()
  const root = schema.getQueryType()
  const own = new Set([...declared].map(clientType))
  const waiting = [...own, clientType(returnType.name)]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const type = schema.getType(name)
    if (name === '*' || (type === undefined && own.has(name))) return 'any'
    if (found.has(name) || isLeafType(type)) continue
    found.add(name)
    if (isAbstractType(type)) waiting.push(...schema.getPossibleTypes(type).map((member) => member.name))
    if (!isObjectType(type) || type === root) continue
    for (const field of Object.values(type.getFields())) {
      if (field.extensions['requires'] !== undefined) continue
      waiting.push(getNamedType(field.type).name, ...(statedDependsOn(field) ?? []))
    }
  }
  return found
}

/** Returns the parts of a client's request that can change the connector's answers, if there are any. */
function variesByOf(connector: string, options: RestConnectorOptions): VariesBy | undefined {
  const { forwardHeaders = [], interceptors = [], transformer } = options
  const readers: [option: string, reader: ReadsHeaders][] = interceptors.map((interceptor, index) => [
    `interceptors[${index}]`,
    interceptor,
  ])
  // One that takes the response alone does not see the context.
  if (transformer && transformer.length !== 1) readers.push(['transformer', transformer])
  const unknown = readers
    .filter(([, { readsHeaders }]) => readsHeaders === undefined)
    .map(([option]) => option)
  const headers = [...forwardHeaders, ...readers.flatMap(([, { readsHeaders }]) => readsHeaders ?? [])]
  if (unknown.length === 0) return toVariesBy(headers)
  return toVariesBy(
    headers,
    `rest connector "${connector}": ${unknown.join(' and ')} can depend on the caller; set readsHeaders of each function to the names of the request headers that the function reads, or to []`,
  )
}

/** Puts in the defaults, checks what can be checked, and opens what the connector's calls share. */
function createSettings(connector: string, options: RestConnectorOptions) {
  const { timeoutMs = 30_000, defaultHeaders = {}, transformer, observe } = options
  const { totalTimeoutMs, maxResponseBytes = 10_000_000 } = options
  const { maxResponseItems = 500_000 } = options
  const { interceptors = [], allowOriginChange = false, forwardHeaders = [], exposeErrors = false } = options
  const { cacheSize = 0, cacheMaxBytes = 64 * 1024 * 1024, cacheTtlMs = 60_000 } = options
  const { maxRequestsPerOperation = 200, maxConnections = 128, maxConnectionAgeMs = 30_000 } = options
  const { clock = systemClock, random = Math.random, env = process.env, logger = console } = options
  const { bus = createInvalidationBus(), limitsResponseCache = true } = options
  const home = atPlace(['baseUrl'], () => parseBaseUrl(options.baseUrl))
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
    clock: options.clock ?? backgroundClock,
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
    /** Evicts what changes made old, until it is called. */
    leaveBus: bus.subscribe((events) => cache.evict(new Set(events.map((event) => event.entityType))), {
      phase: 'evict',
    }),
    basePath: home.basePath,
    timeoutMs,
    defaultHeaders,
    settings: {
      connector,
      random,
      retry,
      budget: createRetryBudget(clock),
      breaker: createBreaker(options.breaker, (state) =>
        logger.info(`REST connector "${connector}": the circuit breaker is ${state}`, { origin }),
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

/** Counts the calls of each operation, and throws when there is one too many. */
function createOperationLimit(connector: string, max: number): CallSettings['operationLimit'] {
  const calls = createAttachment<number>()
  return (operation) => {
    if (max === 0 || !operation) return
    const count = (calls.get(operation) ?? 0) + 1
    calls.set(operation, count)
    if (count > max)
      throw restError(
        'REST_TOO_MANY_REQUESTS_IN_OPERATION',
        `This operation exceeds the limit of ${max} calls to one upstream. Request less data.`,
        { connector },
      )
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

/** A group of REST endpoints behind one base URL. */
export interface RestConnector extends AsyncDisposable {
  readonly name: string
  /** A schema with only the connector's fields. */
  readonly schema: GraphQLSchema
  /**
   * Calls an endpoint without GraphQL and returns its JSON result.
   * Rejects with a `GraphQLError` whose `extensions.code` identifies the cause.
   */
  execute(endpointName: string, args?: Args, scope?: CallScope): Promise<unknown>
  /** Removes all cached responses. Requests in flight are not stored and not shared with later calls. */
  clearCache(): void
  stats(): RestConnectorStats
  /** Ends requests in flight and closes the connections. Calls after it fail. */
  close(): Promise<void>
  /** The source that `useRestConnector` adds to a server's schema. */
  readonly contribution: Source
  /**
   * The parts of a client's request that affect the results of calls with its context, or undefined. Custom resolvers that
   * make such calls must declare them too: `extensions: { variesBy: connector.variesBy }`.
   */
  readonly variesBy: VariesBy | undefined
}

/** Creates a connector. @throws RestConfigError if a declaration is wrong */
export function createRestConnector(name: string, options: RestConnectorOptions): RestConnector {
  return atPlace([], () => create(name, options), `REST connector "${name}"`)
}

function create(name: string, options: RestConnectorOptions): RestConnector {
  refuseWrongOptions(options)
  const { endpoints, types = {}, typeNames = {} } = options
  const { settings, leaveBus, basePath, timeoutMs, defaultHeaders } = createSettings(name, options)
  const { cache, flights, counters } = settings.reading
  const callable = new Map<string, Callable>()
  const meant: Meant = (stated) =>
    Object.hasOwn(typeNames, stated) ? [typeNames[stated] as string, stated] : [stated]
  for (const [index, declaration] of endpoints.entries()) {
    const path = ['endpoints', index]
    const place = `endpoint "${declaration.name}"`
    if (callable.has(declaration.name))
      throw new RestConfigError(`${place} is declared twice`, { path: [...path, 'name'] })
    const compile = (): void => {
      const endpoint = compileEndpoint(declaration, { basePath, timeoutMs, defaultHeaders, types })
      const typesMeant: Meant = (stated) => meant(stated).flatMap(named.typesMeant)
      const call = createCall(endpoint, { ...settings, typesOf, named: () => ({ ...named, typesMeant }) })
      callable.set(endpoint.name, { endpoint, call })
    }
    atPlace(path, compile, place)
  }
  const variesBy = variesByOf(name, options)
  const declared = contribute(name, callable, options, meant, variesBy, settings.attempting.turns)
  const named = nameSource(declared, options)
  const contribution: Source = { ...named.source, onSchema: (schema) => void (served = schema) }
  async function close(): Promise<void> {
    leaveBus()
    await settings.attempting.transport.close()
    await settings.announcer.close()
  }

  const dependenciesOf = createDependencyCache()
  /** The server's, where the connector is part of one: authors state there what types cannot show. */
  let served: GraphQLSchema | undefined
  let ownSchema: GraphQLSchema | undefined
  function schema(): GraphQLSchema {
    ownSchema ??= mergeSources(null, [contribution]).schema
    return ownSchema
  }

  /** All types in the response. */
  function typesOf(endpoint: CompiledEndpoint, seen: GraphQLSchema | undefined): ResponseTypes {
    served = seen ?? served
    const known = served ?? schema()
    const dependencies = dependenciesOf(known)
    const query = known.getQueryType()
    const field = query?.getFields()[named.fieldNamed('Query', endpoint.name) ?? '']
    const depends =
      field && query
        ? dependencies.ofField(query.name, field)
        : dependencies.ofType(clientType(endpoint.returnType.name))
    if (depends.everything) return 'any'
    const whole = responseTypesOf(endpoint, known, clientType)
    return whole === 'any' ? whole : new Set([...whole, ...depends.types])
  }

  /** A hidden type is not part of the schema. Results that depend on it depend on all types. */
  function clientType(own: string): string {
    return named.typeNamed(own) ?? ''
  }

  function placeOf(endpointName: string): MutationField {
    const field = named.fieldNamed('Mutation', endpointName) ?? ''
    return { schema: schema(), field: schema().getMutationType()?.getFields()[field] }
  }

  return {
    name,
    contribution,
    variesBy,
    get schema() {
      return schema()
    },
    async execute(endpointName, args = {}, scope = {}) {
      const found = callable.get(endpointName)
      if (found) return found.call(args, { ...scope, isEnveloped: true, place: () => placeOf(endpointName) })
      const known = [...callable.keys()].join(', ')
      throw badInput(
        `REST connector "${name}" has no endpoint "${endpointName.slice(0, 80)}"; its endpoints are ${known}.`,
      )
    },
    clearCache() {
      cache.clear()
      flights.forget()
    },
    stats: () => ({ ...counters, cached: cache.size, breaker: settings.breaker.state }),
    close,
    [Symbol.asyncDispose]: close,
  }
}
