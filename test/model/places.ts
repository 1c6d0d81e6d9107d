import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { createGateway, type GatewayConfig, serve } from '@vinyasa/gateway'
import { createGrpcSource, type GrpcSourceOptions, useGrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRestConnector, type RestConnectorOptions, useRestConnector } from '@vinyasa/rest-connector'
import { createDisposables, type Disposables } from '@vinyasa/test-kit'
import type { GraphQLSchema } from 'graphql'
import { createSchema, createYoga } from 'graphql-yoga'
import type { DependencyStatement } from '../../apps/gateway/src/dependencies/own-code-types.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { startGateway } from '../faults/support/gateway.ts'
import type { Answer } from './ask.ts'
import { Behaviour } from './behaviour.ts'
import { byHand, shaped, type HandWritten } from './by-hand.ts'
import { believingContext, TOKEN_ISSUER, TOKEN_SECRET } from './code-side.ts'
import { guardPlugin } from './guard.ts'
import { isUnreached } from './judge.ts'
import { createGrpcSide, stated } from './grpc-side.ts'
import type { CachePlan, Operation, WorldPlan } from './plan.ts'
import { type Announce, createOwnSide } from './own-side.ts'
import { hasSession, optionOf, type Rules, rulesOf } from './rules.ts'
import { createRestSide, restOptions } from './rest-side.ts'
import { textOf } from './shapes.ts'
import { Truth } from './truth.ts'

/** Both backends of one tenant, and what is said without any cache. */
export interface Tenant {
  readonly name: string
  readonly behaviour: Behaviour
  readonly schema: GraphQLSchema
  readonly grpc: GrpcSourceOptions
  readonly rest: RestConnectorOptions
  /** A gateway announces by itself what its resolvers change; à la carte it is theirs to do. */
  own(announce?: Announce): HandWritten | undefined
  /** The uncached answer, from a server of its own that keeps nothing. */
  reference(operation: Operation, headers: Readonly<Record<string, string>>): Promise<Answer>
}

/** Where clients ask. */
export interface Place extends Rules {
  readonly name: string
  readonly url: string
  readonly tenant: Tenant
  /** Where it is a process of its own: kill -9. */
  kill?(): Promise<void>
}

/** A process may start while the machine does much else. */
const START_MS = 120_000

export const ORIGIN = 'https://friend.example'

/** Everything that serves a world. */
export async function openPlaces(
  plan: WorldPlan,
  redisUrl: string | undefined,
): Promise<{ readonly places: readonly Place[] } & AsyncDisposable> {
  const disposables = createDisposables()
  try {
    return { places: await open(plan, redisUrl, disposables), [Symbol.asyncDispose]: disposables.dispose }
  } catch (error) {
    await disposables.dispose()
    throw error
  }
}

async function open(
  plan: WorldPlan,
  redisUrl: string | undefined,
  disposables: Disposables,
): Promise<Place[]> {
  const { settings } = plan
  const own = await openTenant(plan, 'own', disposables)
  switch (settings.fixture) {
    case 'gateway':
      return [await openGateway('gateway', own, plan, undefined, disposables)]
    case 'plugins':
      return [await openPlugins(own, plan, disposables)]
    case 'workers':
      return [await openProcess('workers', own, plan, undefined, ['--workers', '2'], disposables)]
    case 'fleet':
      return Promise.all([
        openGateway('first', own, plan, redisUrl, disposables),
        openProcess('workers', own, plan, redisUrl, ['--workers', '2'], disposables),
      ])
    case 'mortal':
      return [
        await openGateway('first', own, plan, redisUrl, disposables),
        await openProcess('mortal', own, plan, redisUrl, [], disposables),
      ]
    case 'redis': {
      const other = await openTenant(plan, 'other', disposables)
      return [
        await openGateway('first', own, plan, redisUrl, disposables),
        await openGateway('second', own, plan, redisUrl, disposables),
        await openGateway('stranger', other, plan, redisUrl, disposables),
      ]
    }
  }
}

async function openTenant(plan: WorldPlan, name: string, disposables: Disposables): Promise<Tenant> {
  const { schema, settings } = plan
  const relinks = settings.cache?.strategy !== 'entities'
  const behaviour = new Behaviour(new Truth(schema, name), relinks)
  const grpcSide = createGrpcSide(schema, behaviour, settings)
  const restSide = createRestSide(schema, behaviour, settings)
  const grpcBackend = disposables.use(await grpcSide.start())
  const restBackend = disposables.use(await restSide.start())
  const grpc: GrpcSourceOptions = {
    ...grpcSide.options,
    name: 'zoo',
    endpoint: grpcBackend.address,
    dedupe: settings.dedupe,
    plans: settings.plans,
    retry: { maxRetries: 0 },
    forwardHeaders: settings.grpcForward,
    metadata: { static: { 'x-place': name } },
  }
  const rest: RestConnectorOptions = {
    ...restOptions(settings, name),
    baseUrl: restBackend.url,
    endpoints: restSide.endpoints,
  }
  const source = disposables.use(await createGrpcSource({ ...grpc, plans: false, dedupe: false }))
  const connector = disposables.use(createRestConnector('farm', { ...rest, plans: false, cacheSize: 0 }))
  const ownOf = (announce?: Announce): HandWritten | undefined =>
    byHand(schema, createOwnSide(schema, behaviour, announce))
  const own = ownOf()
  const yoga = createYoga({
    ...(own && { schema: createSchema(own as never) }),
    context: believingContext({ zoo: source, farm: connector } as never),
    plugins: [useGrpcSource(source), useRestConnector(connector)],
    logging: false,
    maskedErrors: false,
  })
  const built = (yoga.getEnveloped({}) as unknown as { schema: GraphQLSchema }).schema
  return {
    name,
    behaviour,
    schema: built,
    grpc,
    rest,
    own: ownOf,
    async reference(operation, headers) {
      for (let tries = 1; ; tries++) {
        const response = await yoga.fetch('http://reference/graphql', {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ query: textOf(operation), variables: operation.variables }),
        })
        const answer = (await response.json()) as Answer
        if (!isUnreached(answer)) return answer
        if (tries === 20) throw new Error(`A backend is out of reach: ${JSON.stringify(answer)}`)
        await sleep(200)
      }
    },
  }
}

/** What the configuration states: of fields that are computed from other types, of mutations, and of code, who reads it. */
function dependenciesOf({ schema }: WorldPlan): Readonly<Record<string, DependencyStatement>> {
  return Object.fromEntries([
    ...schema.entities.flatMap(({ name, computed }) =>
      computed.map(({ field, from }) => [`${name}.${field}`, { dependsOn: [from] }] as const),
    ),
    ...schema.mutations.flatMap(({ name, source, changes }) =>
      source === 'own' && changes ? [[`Mutation.${name}`, { changes }] as const] : [],
    ),
    ...schema.reads.flatMap(({ name, source }) =>
      source === 'own' ? [[`Query.${name}`, { variesBy: [] }] as const] : [],
    ),
    ...schema.code.flatMap(({ name, variesBy }) =>
      variesBy ? [[`Query.${name}`, { variesBy }] as const] : [],
    ),
  ])
}

const sessionOf = (context: unknown): string =>
  (context as { readonly request?: Request }).request?.headers.get('x-secret') ?? ''

function cacheOptions(
  { strategy, defaultTtlMs, staleWhileRevalidateMs, varyHeaders, clientMaxAge }: CachePlan,
  { schema: { statement }, settings }: WorldPlan,
) {
  return {
    clientMaxAge,
    ...optionOf(statement),
    strategy,
    defaultTtlMs,
    staleWhileRevalidateMs,
    ...stated({ varyHeaders }),
    ...(hasSession(settings) && { session: sessionOf }),
  }
}

function configOf(plan: WorldPlan, { grpc, rest, own }: Tenant, redisUrl: string | undefined): GatewayConfig {
  const { settings } = plan
  const { name: _, ...zoo } = grpc
  const config = {
    preset: settings.preset,
    // The server that keeps nothing lets in what is dear and what is long.
    cost: { max: 0 },
    // A process says where it listens.
    log: { level: 'info', format: 'json' },
    grpc: { zoo },
    rest: { farm: rest },
    responseCache: settings.cache ? cacheOptions(settings.cache, plan) : false,
    liveQuery: liveOptions(plan),
    graphql: {
      batching: 5,
      cors: [ORIGIN],
      csrfPrevention: true,
      limits: { maxTokens: 20_000, maxAliases: 1000, maxDuplicateFields: 1000 },
      ...(settings.preset === 'production' && { maskedErrors: false }),
    },
    ...(settings.jwt && {
      auth: { jwt: { issuers: [{ issuer: TOKEN_ISSUER, audience: 'model', secret: TOKEN_SECRET }] } },
    }),
    dependencies: dependenciesOf(plan),
    ...shaped(own(), plan.schema),
    ...stated({ redisUrl }),
    ...(settings.guard && { plugins: [guardPlugin(settings.guard)] }),
  }
  return config as GatewayConfig
}

const liveOptions = ({ schema, settings }: WorldPlan) => ({
  ...(settings.interceptor && { contextKey: contextKeyOf }),
  // Fields of code have no source that says so.
  ...(schema.code.length > 0 && { defaults: { enabled: true } }),
})

/** Whom an answer is for, where an interceptor reads who asks. */
const contextKeyOf = (context: unknown): string => {
  const { headers } = (context as { readonly request: Request }).request
  return JSON.stringify(
    ['authorization', 'cookie', 'x-tenant', 'x-region', 'x-secret'].map((name) => headers.get(name)),
  )
}

async function openGateway(
  name: string,
  tenant: Tenant,
  plan: WorldPlan,
  redisUrl: string | undefined,
  disposables: Disposables,
): Promise<Place> {
  const logger = await createLogger({ level: process.env['MODEL_LOG'] === 'error' ? 'error' : 'silent' })
  const gateway = await createGateway(configOf(plan, tenant, redisUrl), { baseDirectory: '/', logger })
  const server = await serve(gateway, { port: 0 })
  disposables.use({ close: () => server.close({ graceMs: 100 }) })
  return { name, url: server.url, tenant, ...rulesOf(plan, tenant.schema) }
}

async function openProcess(
  name: string,
  tenant: Tenant,
  plan: WorldPlan,
  redisUrl: string | undefined,
  args: readonly string[],
  disposables: Disposables,
): Promise<Place> {
  const { url, process } = disposables.use(
    await startGateway({ config: configOf(plan, tenant, redisUrl), args, readyTimeoutMs: START_MS }),
  )
  return {
    name,
    url,
    tenant,
    ...rulesOf(plan, tenant.schema),
    kill: async () => void (await process.kill('SIGKILL')),
  }
}

async function openPlugins(tenant: Tenant, plan: WorldPlan, disposables: Disposables): Promise<Place> {
  const { settings } = plan
  const bus = createInvalidationBus()
  const source = disposables.use(await createGrpcSource({ ...tenant.grpc, bus }))
  const connector = disposables.use(createRestConnector('farm', { ...tenant.rest, bus }))
  const live = useLiveQuery({ bus, ...liveOptions(plan) })
  const dependencies = dependenciesOf(plan)
  const own = tenant.own((types) => bus.publish(types.map((entityType) => ({ entityType, operation: '*' }))))
  const yoga = createYoga({
    ...(own && { schema: createSchema(own as never) }),
    context: believingContext({ zoo: source, farm: connector } as never),
    logging: false,
    batching: true,
    plugins: [
      ...(settings.guard ? [guardPlugin(settings.guard)] : []),
      ...(settings.cache ? [useResponseCache({ bus, ...cacheOptions(settings.cache, plan) })] : []),
      live,
      useGrpcSource(source),
      useRestConnector(connector),
    ],
  })
  const schema = (yoga.getEnveloped({}) as unknown as { schema: GraphQLSchema }).schema
  for (const [coordinate, statement] of Object.entries(dependencies)) {
    const [type = '', field = ''] = coordinate.split('.')
    const held = (
      schema.getType(type) as { getFields?(): Record<string, { extensions: object }> }
    ).getFields?.()
    const { variesBy: _, ...others } = statement
    if (held?.[field]) held[field].extensions = { ...held[field].extensions, ...others }
  }
  // On a plain server a resolver declares by hand what it reads. What is not declared is recorded.
  for (const { name, reads, header, call, isDeclared } of plan.schema.code) {
    if (!isDeclared) continue
    const variesBy = call.source === 'grpc' ? source.variesBy : connector.variesBy
    const field = schema.getQueryType()?.getFields()[name]
    const headers = { header: [header], claims: ['authorization'], source: [], 'source alone': [] }[reads]
    if (field)
      field.extensions = { ...field.extensions, variesBy: reads === 'source' ? variesBy : { headers } }
  }
  const server = createServer(yoga)
  const sockets = ['/graphql/live', '/graphql'].map((path) =>
    attachLiveServer(server, { plugin: live, path }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  disposables.use(async () => {
    await Promise.all(sockets.map((socket) => socket.close()))
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { name: 'plugins', url, tenant, ...rulesOf(plan, tenant.schema) }
}
