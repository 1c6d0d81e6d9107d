import type { GraphQLSchema } from 'graphql'
import { createCall, type Call, type CallScope } from './call.ts'
import { systemClock } from './clock.ts'
import { compileEndpoint, type CompiledEndpoint } from './endpoint.ts'
import { atPlace, badInput, RestConfigError } from './errors.ts'
import type { RestConnectorOptions } from './options.ts'
import { retryPresets } from './retry-policy.ts'
import { contribute, type Contribution } from './contribution.ts'
import { extendWith } from './extend-schema.ts'
import type { Args } from './template.ts'
import { createTransport } from './transport.ts'

/** A group of REST endpoints behind one base URL. */
export interface RestConnector extends AsyncDisposable {
  readonly name: string
  /** The connector's own fields as a schema of their own. */
  readonly schema: GraphQLSchema
  /**
   * Calls an endpoint without GraphQL and gives its JSON result.
   * Rejects with a `GraphQLError` whose `extensions.code` tells why.
   */
  execute(endpointName: string, args?: Args, scope?: CallScope): Promise<unknown>
  /** Ends requests in flight and closes the connections. Calls after it fail. */
  close(): Promise<void>
  /** What `useRestConnector` adds to a server's schema. */
  readonly contribution: Contribution
}

/** Creates a connector; throws `RestConfigError` when a declaration is wrong. */
export function createRestConnector(name: string, options: RestConnectorOptions): RestConnector {
  return atPlace(`REST connector "${name}"`, () => create(name, options))
}

function create(name: string, options: RestConnectorOptions): RestConnector {
  const { baseUrl, endpoints, timeoutMs = 30_000, defaultHeaders = {}, noRetry = false, bus } = options
  const { totalTimeoutMs = Math.max(60_000, timeoutMs), maxResponseBytes = 10_000_000 } = options
  const { retry = retryPresets.default, clock = systemClock, random = Math.random } = options
  const base = parseBaseUrl(baseUrl)
  const defaults = { basePath: base.pathname.replace(/\/+$/, ''), timeoutMs, defaultHeaders }
  const compiled = new Map<string, CompiledEndpoint>()
  for (const endpoint of endpoints) {
    if (compiled.has(endpoint.name))
      throw new RestConfigError(`endpoint "${endpoint.name}" is declared twice`)
    compiled.set(endpoint.name, compileEndpoint(endpoint, defaults))
  }

  const transport = createTransport({ origin: base.origin, maxResponseBytes })
  const settings = {
    connector: name,
    transport,
    clock,
    random,
    retry: noRetry ? retryPresets.disabled : retry,
    totalTimeoutMs,
    maxResponseBytes,
    bus,
  }
  const calls = new Map<string, Call>()
  for (const endpoint of compiled.values()) calls.set(endpoint.name, createCall(endpoint, settings))
  const contribution = contribute(name, [...compiled.values()], calls)

  let ownSchema: GraphQLSchema | undefined
  const connector: RestConnector = {
    name,
    contribution,
    get schema() {
      ownSchema ??= extendWith(null, contribution).schema
      return ownSchema
    },
    async execute(endpointName, args = {}, scope = {}) {
      const call = calls.get(endpointName)
      if (!call) {
        const known = [...calls.keys()].join(', ')
        throw badInput(
          `REST connector "${name}" has no endpoint "${endpointName.slice(0, 80)}"; it has ${known}.`,
        )
      }
      return call(args, scope)
    },
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport.close(),
  }
  return connector
}

function parseBaseUrl(baseUrl: string): URL {
  if (!URL.canParse(baseUrl)) throw new RestConfigError(`baseUrl "${baseUrl}" is not an absolute URL`)
  const url = new URL(baseUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RestConfigError(`baseUrl must be http or https, not ${url.protocol}`)
  if (url.username || url.password)
    throw new RestConfigError('baseUrl holds credentials; use an interceptor or defaultHeaders')
  if (url.search || url.hash) throw new RestConfigError('baseUrl must have neither query nor fragment')
  return url
}
