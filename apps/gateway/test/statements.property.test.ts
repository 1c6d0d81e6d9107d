import {
  startGrpcBackend,
  startRestBackend,
  waitUntil,
  type GrpcBackend,
  type RestBackend,
} from '@vinyasa/test-kit'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLeafType } from 'graphql'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import type { Gateway } from '../src/gateway.ts'
import type { GrpcSourceConfig, RestSourceConfig } from '../src/sources/types.ts'
import { ask, fetchFrom, openGateway } from './support/gateway.ts'

// Whatever gave a type its name in the schema, what is stated of the proto's or the document's `User` is stated of it.

const plain = (pack: string): string => `
  syntax = "proto3"; package ${pack};
  message User { string id = 1; string name = 2; }
  message Stats { int32 count = 1; }
  message Empty {}
  service Api {
    rpc GetUser(Empty) returns (User);
    rpc GetStats(Empty) returns (Stats);
    rpc UpdateUser(User) returns (Empty);
    rpc Touch(Empty) returns (Empty);
  }`

/** The same with the options of a schema, and what `live` says of the statistics. */
function annotated(pack: string, live = ''): string {
  const schema = (type: string, name: string): string =>
    `option (graphql.schema) = { type: ${type} name: "${pack}${name}" };`
  return plain(pack)
    .replace(';', '; import "graphql.proto";')
    .replace('(User);', `(User) { ${schema('QUERY', 'User')} }`)
    .replace(
      '(Stats);',
      `(Stats) { ${schema('QUERY', 'Stats')} option (graphql.live_query) = { enabled: true ${live} }; }`,
    )
    .replace(
      'UpdateUser(User) returns (Empty);',
      `UpdateUser(User) returns (Empty) { ${schema('MUTATION', 'Update')} }`,
    )
    .replace(
      'Touch(Empty) returns (Empty);',
      `Touch(Empty) returns (Empty) { ${schema('MUTATION', 'Touch')} }`,
    )
}

const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  paths: {
    '/user': {
      get: { operationId: 'shopUser', responses: { 200: { description: 'ok', ...json() } } },
      put: {
        operationId: 'shopUpdate',
        requestBody: json(),
        responses: { 200: { description: 'ok', ...json() } },
      },
    },
  },
  components: {
    schemas: { User: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } } },
  },
}
function json(): object {
  return { content: { 'application/json': { schema: { $ref: '#/components/schemas/User' } } } }
}

let grpc: GrpcBackend
let rest: RestBackend
let directory: string
beforeAll(async () => {
  let count = 0
  const handlers = (pack: string): object => ({
    [`${pack}.Api/GetUser`]: () => ({ id: '1', name: 'Ada' }),
    [`${pack}.Api/GetStats`]: () => ({ count: ++count }),
    [`${pack}.Api/UpdateUser`]: () => ({}),
    [`${pack}.Api/Touch`]: () => ({}),
  })
  grpc = await startGrpcBackend({
    protos: { 'shop.proto': plain('shop'), 'bank.proto': plain('bank') },
    handlers: { ...handlers('shop'), ...handlers('bank') },
  })
  rest = await startRestBackend(({ url }) => ({
    json: url.pathname.endsWith('/stats') ? { count: ++count } : { id: '1', name: 'Ada' },
  }))
  directory = await mkdtemp(join(tmpdir(), 'vinyasa-statements-'))
  await writeFile(join(directory, 'shop.json'), JSON.stringify(DOCUMENT))
})
afterAll(async () => {
  await grpc.stop()
  await rest.stop()
  await rm(directory, { recursive: true })
})

/** What is stated, of either kind of source. */
interface Stated {
  /** In the proto, of the statistics. */
  readonly live?: string
  /** In the settings of the statistics, and of the mutation that changes nothing that it shows. */
  readonly stats?: Pick<NonNullable<RestSourceConfig['endpoints']>[number], 'liveQuery' | 'dependsOn'>
  readonly touch?: Pick<NonNullable<RestSourceConfig['endpoints']>[number], 'invalidates' | 'changes'>
}

/** One way in which a `User` gets its name. */
type Way = readonly [what: string, client: string, sources: (stated: Stated) => GatewayConfig]

const overGrpc = (
  what: string,
  client: string,
  given: Partial<GrpcSourceConfig>,
  others?: 'before' | 'behind',
): Way => [
  what,
  client,
  ({ live, stats, touch }) => {
    const own = { 'shop.proto': annotated('shop', live) }
    const other = { 'bank.proto': annotated('bank') }
    const protoText =
      others === undefined ? own : others === 'before' ? { ...other, ...own } : { ...own, ...other }
    const methods = {
      'shop.Api.GetStats': stats ?? {},
      'shop.Api.Touch': touch ?? {},
    } as GrpcSourceConfig['methods']
    return { grpc: { shop: { endpoint: grpc.address, protoText, methods, ...given } } }
  },
]

const overRest = (
  what: string,
  client: string,
  given: Partial<RestSourceConfig>,
  openapi: object = {},
  isSecond = false,
): Way => [
  what,
  client,
  ({ stats, touch }) => {
    const fields = { count: 'int' } as const
    const shop: RestSourceConfig = {
      baseUrl: rest.url,
      openapi: { file: 'shop.json', ...openapi },
      endpoints: [
        {
          name: 'shopStats',
          path: '/stats',
          responseSchema: { typeName: 'Stats', fields },
          liveQuery: { enabled: true },
          ...stats,
        },
        { name: 'shopTouch', method: 'POST', path: '/touch', returnType: 'JSON', ...touch },
      ],
      ...given,
    }
    const bank = {
      baseUrl: rest.url,
      openapi: { file: 'shop.json', rename: { shopUser: 'bankUser', shopUpdate: 'bankUpdate' } },
    }
    return { rest: { ...(isSecond && { bank }), shop } }
  },
]

const GRPC: readonly Way[] = [
  overGrpc('as it is', 'User', {}),
  overGrpc('by typeNames', 'Person', { typeNames: { 'shop.User': 'Person' } }),
  overGrpc("by typeNaming: 'qualified'", 'ShopUser', { typeNaming: 'qualified' }),
  overGrpc('behind another User', 'ShopUser', {}, 'before'),
  overGrpc('before another User', 'User', {}, 'behind'),
  overGrpc('by prefix', 'MyUser', { prefix: 'My' }),
  overGrpc('by rename', 'Person', { rename: { User: 'Person' } }),
  overGrpc('by a pattern', 'UserType', { rename: { '*User': '*UserType' } }),
  overGrpc('by typeNames and rename', 'Human', {
    typeNames: { 'shop.User': 'Person' },
    rename: { Person: 'Human' },
  }),
  overGrpc('behind another User, by prefix', 'MyShopUser', { prefix: 'My' }, 'before'),
]

const REST: readonly Way[] = [
  overRest('as it is', 'User', {}),
  overRest('by prefix', 'MyUser', { prefix: 'My' }),
  overRest('by rename', 'Person', { rename: { User: 'Person' } }),
  overRest('by a pattern', 'UserType', { rename: { '*User': '*UserType' } }),
  overRest('by rename of openapi', 'Person', {}, { rename: { User: 'Person' } }),
  overRest('by both', 'Human', { rename: { Person: 'Human' } }, { rename: { User: 'Person' } }),
  overRest('behind another User', 'ShopUser', {}, {}, true),
  overRest('behind another User, by rename', 'Person', { rename: { User: 'Person' } }, {}, true),
]

const CACHE: GatewayConfig = { responseCache: { session: () => 'one' } }
const LIVE: GatewayConfig = { liveQuery: { defaults: { throttleMs: 0 }, contextKey: () => 'one' } }

/** One thing that may be stated of a type, and how it shows. */
interface Statement {
  readonly what: string
  readonly stated?: Stated
  /** What the rest of the config says, by the name that clients know. */
  readonly config?: (client: string, fields: RootNames) => GatewayConfig
  readonly shows: (gateway: Gateway, client: string, fields: RootNames) => Promise<void>
}

/** The names of root fields. */
interface RootNames {
  readonly user: string
  readonly stats: string
  readonly touch: string
}

const STATEMENTS: readonly Statement[] = [
  {
    what: 'triggers of a proto',
    stated: { live: 'triggers: ["User.update"]' },
    config: () => LIVE,
    shows: isLive,
  },
  {
    what: 'depends_on of a proto',
    stated: { live: 'depends_on: ["User"]' },
    config: () => LIVE,
    shows: isLive,
  },
  {
    what: 'triggers of settings',
    stated: { stats: { liveQuery: { enabled: true, triggers: ['User.update'] } } },
    config: () => LIVE,
    shows: isLive,
  },
  {
    what: 'dependsOn of live settings',
    stated: { stats: { liveQuery: { enabled: true, dependsOn: ['User'] } } },
    config: () => LIVE,
    shows: isLive,
  },
  {
    what: 'dependsOn, of a live query',
    stated: { stats: { dependsOn: ['User'] } },
    config: () => LIVE,
    shows: isLive,
  },
  {
    what: 'dependsOn, of the cache',
    stated: { stats: { dependsOn: ['User'] } },
    config: () => CACHE,
    shows: isEvicted,
  },
  {
    what: 'invalidates',
    stated: { touch: { invalidates: [{ entityType: 'User', operation: 'update' }] } as never },
    shows: isAnnounced,
  },
  { what: 'changes of an endpoint', stated: { touch: { changes: ['User'] } }, shows: isAnnounced },
  {
    what: 'changes of dependencies',
    config: (client, { touch }) => ({ dependencies: { [`Mutation.${touch}`]: { changes: [client] } } }),
    shows: isAnnounced,
  },
  {
    what: 'liveQuery.fields',
    config: (client, { stats }) => ({
      liveQuery: { ...LIVE.liveQuery, fields: { [stats]: { triggers: [`${client}.update`] } } },
    }),
    shows: isLive,
  },
  {
    what: 'dependencies',
    config: (client, { stats }) => ({
      ...CACHE,
      dependencies: { [`Query.${stats}`]: { dependsOn: [client] } },
    }),
    shows: isEvicted,
  },
  {
    what: 'access',
    config: (client) => ({
      access: { fields: { [client]: { authenticated: true } } },
      auth: { jwt: { issuers: [{ issuer: 'https://id.example', audience: 'a', secret: 'x'.repeat(32) }] } },
    }),
    async shows(gateway, _, { user }) {
      expect(await ask(gateway, `{ ${user} { name } }`)).toMatchObject({
        data: { [user]: null },
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      })
    },
  },
  {
    what: 'cost',
    config: (client) => ({ cost: { max: 50, fields: { [client]: { weight: 100 } } } }),
    async shows(gateway, _, { user }) {
      expect(JSON.stringify(await ask(gateway, `{ ${user} { name } }`))).toContain('cost')
    },
  },
  {
    what: 'ttlMsBySchemaCoordinate',
    config: (client) => ({
      responseCache: { session: () => 'one', ttlMsBySchemaCoordinate: { [client]: 0 } },
    }),
    async shows(gateway, _, { user, stats }) {
      const states = []
      for (const field of [user, user]) states.push(await cacheState(gateway, `{ ${field} { name } }`))
      expect(states).not.toContain('HIT')
      for (const field of [stats, stats]) states.push(await cacheState(gateway, `{ ${field} { count } }`))
      expect(states.at(-1)).toBe('HIT')
    },
  },
]

async function cacheState(gateway: Gateway, query: string): Promise<string | null> {
  const response = await fetchFrom(gateway, query)
  await response.text()
  return response.headers.get('x-cache')
}

/** An event of the type, and of no other, brings an update. */
async function isLive(gateway: Gateway, client: string, { stats }: RootNames): Promise<void> {
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const response = await gateway.fetch(
    new Request('http://gateway/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: `query @live { ${stats} { count } }` }),
      signal: leave.signal,
    }),
  )
  let text = ''
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk as Uint8Array)
  }
  read().catch(() => {})
  const updates = (): number => text.split('"data"').length - 1
  await waitUntil(() => updates() === 1, { awaited: 'the first result' })
  await gateway.bus.publish([{ entityType: 'Nobody', operation: 'update' }])
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(updates()).toBe(1)
  await gateway.bus.publish([{ entityType: client, operation: 'update' }])
  await waitUntil(() => updates() === 2, { awaited: `an update by ${client}`, timeoutMs: 3000 })
}

async function isEvicted(gateway: Gateway, client: string, { stats }: RootNames): Promise<void> {
  const state = (): Promise<string | null> => cacheState(gateway, `{ ${stats} { count } }`)
  await state()
  await gateway.bus.publish([{ entityType: 'Nobody', operation: 'update' }])
  expect(await state()).toBe('HIT')
  await gateway.bus.publish([{ entityType: client, operation: 'update' }])
  expect(await state()).toBe('MISS')
}

async function isAnnounced(gateway: Gateway, client: string, { touch }: RootNames): Promise<void> {
  const types: string[] = []
  gateway.bus.subscribe((events) => void types.push(...events.map(({ entityType }) => entityType)))
  const type = gateway.schema.getMutationType()?.getFields()[touch]?.type
  const { errors } = await ask(gateway, `mutation { ${touch}${isLeafType(type) ? '' : ' { __typename }'} }`)
  expect(errors).toBeUndefined()
  expect(types).toContain(client)
}

async function start(config: GatewayConfig): Promise<{ gateway: Gateway; fields: RootNames }> {
  const gateway = await openGateway(config, { baseDirectory: directory })
  const { schema } = gateway
  const names = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.keys(type?.getFields() ?? {}),
  )
  const named = (what: string): string =>
    names.find((name) => name.toLowerCase().endsWith(`shop${what}`)) ?? ''
  return { gateway, fields: { user: named('user'), stats: named('stats'), touch: named('touch') } }
}

const isOf = (kind: string, { what }: Statement): boolean => what.endsWith(`of ${kind}`)

describe.each([
  ['gRPC', GRPC, STATEMENTS.filter((statement) => !isOf('an endpoint', statement))] as const,
  ['OpenAPI', REST, STATEMENTS.filter((statement) => !isOf('a proto', statement))] as const,
])('%s', (_kind, ways, statements) => {
  describe.each(ways)('named %s', (_what, client, sources) => {
    it.each(statements.map((statement) => [statement.what, statement] as const))(
      '%s',
      async (_statement, { stated = {}, config, shows }) => {
        const { fields } = await start(sources(stated))
        const { gateway } = await start({ ...sources(stated), ...config?.(client, fields) })
        expect(gateway.schema.getType(client)).toBeDefined()
        await shows(gateway, client, fields)
      },
    )
  })
})
