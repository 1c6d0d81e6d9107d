import { createDependencyCache, type VariesBy, toVariesBy, statedDependsOn } from '@vinyasa/invalidation'
import { type Meant, mergeSources, nameSource, type Source } from '@vinyasa/source-kit'
import { type GraphQLSchema, getNamedType, isAbstractType, isLeafType, isObjectType } from 'graphql'
import type { MutationField } from './call/announce.ts'
import { createCall, type Callable, type CallScope } from './call/call.ts'
import { contribute } from './fields/contribution.ts'
import { compileEndpoint, type CompiledEndpoint } from './declare/endpoint.ts'
import { atPlace, badInput, RestConfigError } from './errors.ts'
import { refuseWrongOptions } from './known-options.ts'
import type { RestConnectorOptions } from './options.ts'
import type { ResponseTypes } from './call/cache/response-cache.ts'
import { createSettings } from './call/settings.ts'
import type { RestConnectorStats } from './call/stats.ts'
import type { Args } from './templates/template.ts'
import type { ReadsHeaders } from './interceptors/interceptor.ts'

/**
 * All types that a response is made of: a kept one holds every member, whatever was selected, entities inside entities
 * too, and what the schema's fields state. Fields that are fetched for themselves are no part of it. `any` where that
 * is nothing, or of types that the schema does not know.
 */
function responseTypesOf(
  { types: declared, returnType }: CompiledEndpoint,
  schema: GraphQLSchema,
  clientType: (own: string) => string = (own) => own,
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
  const { endpoints, types = {}, typeNames = {}, plans = true, onPlan, int64 = 'string' } = options
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
  const declared = contribute(name, callable, {
    types,
    meant,
    // A transformer can return promises, functions or objects with getters.
    isPlannable: plans && !options.transformer,
    turns: settings.attempting.turns,
    onPlan,
    variesBy,
    home: settings.preparing,
    int64,
  })
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
