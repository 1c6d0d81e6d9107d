import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bearer } from '@vinyasa/rest-connector'
import {
  describeWithRedis,
  startGrpcBackend,
  startRedis,
  startRestBackend,
  type RestHandler,
  temporaryFolder,
} from '@vinyasa/test-kit'
import { createDependencies } from '@vinyasa/invalidation'
import { buildSchema, isObjectType, parse } from 'graphql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../src/cli.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { undeclaredLines } from '../src/dependencies/report.ts'
import type { GrpcSourceConfig, RestSourceConfig } from '../src/sources/types.ts'
import { createGateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { startGateway } from './support/gateway.ts'

const PROTO = `
syntax = "proto3";
package people.v1;
service People {
  rpc GetPerson(GetPersonRequest) returns (Person);
  rpc ResetPeople(Nothing) returns (Done);
}
message GetPersonRequest { string id = 1; }
message Person { string id = 1; string seen_by = 2; }
message Nothing {}
message Done { bool ok = 1; }
`

interface Answer {
  readonly data: Record<string, any>
  readonly cache: string | null
  readonly headers: Headers
}

async function ask(
  { endpoint }: { readonly endpoint: string },
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const url = new URL(endpoint)
  const isMutation = query.startsWith('mutation')
  if (!isMutation) url.searchParams.set('query', query)
  const response = await fetch(url, {
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    ...(isMutation ? { method: 'POST', body: JSON.stringify({ query }) } : {}),
  })
  const { data } = (await response.json()) as Pick<Answer, 'data'>
  return { data, cache: response.headers.get('x-cache'), headers: response.headers }
}

const thing = { typeName: 'Thing', fields: { id: 'id!', seenBy: 'string' } }
const done = { typeName: 'Done', fields: { ok: 'boolean' } }

/** A REST source whose answers say who asked, and in whose name. */
async function restSource(options: Partial<RestSourceConfig> = {}): Promise<RestSourceConfig> {
  let calls = 0
  const answer: RestHandler = ({ headers, url: { pathname } }) => {
    calls++
    if (pathname === '/count') return { json: calls }
    if (pathname === '/reset') return { json: { ok: true } }
    return {
      json: {
        id: '1',
        seenBy: [headers['x-tenant'], headers['authorization'], headers['cookie']].map(String).join(),
      },
      delayMs: 20,
    }
  }
  const backend = await startRestBackend(answer)
  onTestFinished(() => backend.stop())
  return {
    baseUrl: backend.url,
    endpoints: [
      { name: 'thing', path: '/thing', responseSchema: thing },
      { name: 'calls', path: '/count', returnType: 'Int' },
      { name: 'reset', path: '/reset', method: 'POST', responseSchema: done },
    ],
    ...options,
  }
}

async function grpcSource(options: Partial<GrpcSourceConfig> = {}): Promise<GrpcSourceConfig> {
  const backend = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'people.v1.People/GetPerson': ({ id }, { metadata: sent }) => ({
        id,
        seenBy: ['x-tenant', 'authorization'].map((name) => String(sent.get(name)[0])).join(),
      }),
      'people.v1.People/ResetPeople': () => ({ ok: true }),
    },
  })
  onTestFinished(() => backend.stop())
  return {
    endpoint: backend.address,
    protoText: { 'people.proto': PROTO },
    expose: 'all',
    ...options,
  }
}

describe('whoever a source forwards, nobody gets the answer of another', () => {
  const rows: readonly [string, () => Promise<Partial<GatewayConfig>>, string, string][] = [
    [
      'REST forwardHeaders',
      async () => ({ rest: { t: await restSource({ forwardHeaders: ['X-Tenant'] }) } }),
      '{ thing { seenBy } }',
      'x-tenant',
    ],
    [
      'gRPC forwardHeaders',
      async () => ({ grpc: { t: await grpcSource({ forwardHeaders: ['x-tenant'] }) } }),
      '{ getPerson(id: "1") { seenBy } }',
      'x-tenant',
    ],
    [
      'what gRPC forwards by default',
      async () => ({ grpc: { t: await grpcSource() } }),
      '{ getPerson(id: "1") { seenBy } }',
      'authorization',
    ],
    [
      'forwarded cookies',
      async () => ({ rest: { t: await restSource({ forwardHeaders: ['cookie'] }) } }),
      '{ thing { seenBy } }',
      'cookie',
    ],
  ]
  const caches: readonly (readonly [string, GatewayConfig['responseCache']])[] = [
    ['with the defaults', true],
    ['with varyHeaders of another name', { varyHeaders: ['x-locale'] }],
    ['with no varyHeaders', { varyHeaders: [] }],
  ]
  for (const [title, sources, query, header] of rows) {
    it.each(caches)(`${title}, %s`, async (_title, responseCache) => {
      const gateway = await startGateway({ ...(await sources()), responseCache })
      const [one, two] = await Promise.all(
        ['a', 'b'].map((value) => ask(gateway, query, { [header]: value })),
      )
      const seen = ({ data }: Answer): unknown => Object.values(data)[0].seenBy
      expect(seen(one as Answer)).toContain('a')
      expect(seen(two as Answer)).toContain('b')
      expect([one?.cache, two?.cache]).toEqual(['MISS', 'MISS'])
      const again = await ask(gateway, query, { [header]: 'a' })
      expect([seen(again), again.cache]).toEqual([seen(one as Answer), 'HIT'])
      expect(again.headers.get('vary')?.toLowerCase()).toContain(header)
      const nobody = await ask(gateway, query)
      expect(seen(nobody)).not.toMatch(/\b[ab]\b/)
    })
  }
})

describe('a source that cannot say who its answers are for', () => {
  const logger = createLogger({ level: 'silent' })
  const start = async (config: GatewayConfig) =>
    (await createGateway(config, { baseDirectory: '/', logger: await logger })).close()
  const interceptor = (): void => {}

  it.each<[string, () => Promise<GatewayConfig>, RegExp]>([
    [
      'an interceptor',
      async () => ({ rest: { t: await restSource({ interceptors: [bearer('x'), interceptor] }) } }),
      /rest connector "t": interceptors\[1\].*readsHeaders/,
    ],
    [
      'a transformer that sees the context',
      async () => ({ rest: { t: await restSource({ transformer: ({ data }, _info) => data }) } }),
      /rest connector "t": transformer/,
    ],
    [
      'a secret that is given for each call',
      async () => ({ rest: { t: await restSource({ interceptors: [bearer(() => 'x')] }) } }),
      /interceptors\[0\]/,
    ],
    [
      'fromContext',
      async () => ({ grpc: { g: await grpcSource({ metadata: { fromContext: () => ({}) } }) } }),
      /grpc source "g": metadata\.fromContext/,
    ],
  ])('%s: refused by name with the cache on, unless session says it', async (_title, sources, message) => {
    const config = await sources()
    await expect(start({ ...config, responseCache: true })).rejects.toThrow(message)
    await expect(start({ ...config, responseCache: {} })).rejects.toThrow(/responseCache\.session/)
    await start({ ...config, responseCache: { session: () => null } })
    await start({ ...config, responseCache: false })
  })

  it.each<[string, () => Promise<GatewayConfig>]>([
    ['static credentials', async () => ({ rest: { t: await restSource({ interceptors: [bearer('x')] }) } })],
    [
      'a transformer of the response alone',
      async () => ({ rest: { t: await restSource({ transformer: ({ data }) => data }) } }),
    ],
    [
      'an interceptor that says what it reads',
      async () => ({
        rest: {
          t: await restSource({ interceptors: [Object.assign(interceptor, { readsHeaders: ['x-tenant'] })] }),
        },
      }),
    ],
    [
      'tracing',
      async () => ({
        tracing: true,
        rest: { t: await restSource() },
        grpc: { g: { ...(await grpcSource()), typeNames: { 'people.v1.Done': 'PeopleDone' } } },
      }),
    ],
  ])('%s: accepted', async (_title, sources) => {
    await expect(start({ ...(await sources()), responseCache: true })).resolves.toBeUndefined()
  })
})

describe('statements', () => {
  const rest = () => restSource()

  it('without them a result without an entity evicts everything, and a root leaf is evicted by it', async () => {
    const gateway = await startGateway({ rest: { t: await rest() }, responseCache: true })
    await ask(gateway, '{ thing { id } }')
    await ask(gateway, 'mutation { reset { ok } }')
    expect((await ask(gateway, '{ thing { id } }')).cache).toBe('MISS')
  })

  it('dependencies of the config state what a mutation changes, and what a field depends on', async () => {
    const gateway = await startGateway({
      rest: { t: await rest() },
      typeDefs: 'type Other { id: ID } type Query { other: Other }',
      resolvers: { Query: { other: () => ({ id: 1 }) } },
      dependencies: {
        'Mutation.reset': { changes: ['Other'] },
        'Query.calls': { dependsOn: ['Thing'] },
        'Query.other': { variesBy: [] },
      },
      responseCache: true,
    })
    for (const query of ['{ thing { id } }', '{ calls }', '{ other { id } }']) await ask(gateway, query)
    await ask(gateway, 'mutation { reset { ok } }')
    expect((await ask(gateway, '{ thing { id } }')).cache).toBe('HIT')
    expect((await ask(gateway, '{ calls }')).cache).toBe('HIT')
    expect((await ask(gateway, '{ other { id } }')).cache).toBe('MISS')
  })

  it('what code resolves depends on everything, also in the place of a source, and what comes with its parent on that', async () => {
    const { gateway } = await startGateway({
      rest: { t: await rest() },
      typeDefs: `
        extend type Thing { orders: Int }
        type Size { width: Int }
        type Other { id: ID name: String size: Size }
        type Query { other: Other }`,
      resolvers: {
        Query: { other: () => ({ id: 1, name: 'x', size: { width: 1 } }) },
        Thing: { orders: () => 1, seenBy: { resolve: () => 'code' } },
      },
      responseCache: true,
    })
    const { ofOperation } = createDependencies(gateway.schema)
    const of = (query: string): unknown => {
      const dependence = ofOperation(parse(query))
      return dependence.everything ? 'everything' : [...dependence.types].sort()
    }
    expect(of('{ thing { id } }')).toEqual(['Thing'])
    expect(of('{ thing { id orders } }')).toBe('everything')
    expect(of('{ thing { id seenBy } }')).toBe('everything')
    expect(of('{ other { id name size { width } } }')).toEqual(['Other', 'Size'])
  })

  it('endpoints and methods have the same words', async () => {
    const source = await rest()
    const gateway = await startGateway({
      rest: {
        t: {
          ...source,
          endpoints: source.endpoints?.map((endpoint) => ({
            ...endpoint,
            ...(endpoint.name === 'reset' ? { changes: [] } : {}),
            ...(endpoint.name === 'calls' ? { dependsOn: ['Thing'] } : {}),
          })),
        },
      },
      grpc: {
        g: {
          ...(await grpcSource()),
          typeNames: { 'people.v1.Done': 'PeopleDone' },
          methods: { 'people.v1.People.ResetPeople': { changes: ['Person'] } },
        },
      },
      responseCache: true,
    })
    const { extensions: reset } = gateway.gateway.schema.getMutationType()?.getFields()['reset'] ?? {}
    expect(reset?.['changes']).toEqual([])
    expect(
      gateway.gateway.schema.getMutationType()?.getFields()['resetPeople']?.extensions['changes'],
    ).toEqual(['Person'])
    expect(gateway.gateway.schema.getQueryType()?.getFields()['calls']?.extensions['dependsOn']).toEqual([
      'Thing',
    ])
  })

  it.each<[string, GatewayConfig['dependencies'], RegExp]>([
    [
      'a field that is not there',
      { 'Query.nothing': { dependsOn: [] } },
      /dependencies\["Query\.nothing"\]: the schema has no such field/,
    ],
    [
      'a type that is not there',
      { 'Mutation.reset': { changes: ['Thign'] } },
      /dependencies\["Mutation\.reset"\]\.changes\[0\]: the schema has no type "Thign"/,
    ],
  ])('refuses %s', async (_title, dependencies, message) => {
    const config = { rest: { t: await rest() }, dependencies }
    const logger = await createLogger({ level: 'silent' })
    await expect(createGateway(config, { baseDirectory: '/', logger })).rejects.toThrow(message)
  })

  it('check lists each field that lacks one, by coordinate and with the word', async () => {
    const { baseUrl } = await rest()
    const directory = await temporaryFolder('check')
    await writeFile(
      join(directory, 'gateway.config.yaml'),
      `
rest:
  t:
    baseUrl: ${baseUrl}
    endpoints:
      - { name: thing, path: /thing, responseSchema: { typeName: Thing, fields: { id: 'id!' } } }
      - { name: calls, path: /count, returnType: Int }
      - { name: stated, path: /count, returnType: Int, dependsOn: [Thing] }
      - { name: summary, path: '/x/{id}', responseSchema: { typeName: Summary, fields: { n: int } }, on: { type: Thing, field: sum, args: { id: '{id}' } }, args: { id: ID! } }
      - { name: reset, path: /reset, method: POST, responseSchema: { typeName: Done, fields: { ok: boolean } } }
      - { name: rename, path: /thing, method: PUT, returnType: Thing }
`,
    )
    const out: string[] = []
    const code = await run(['check'], {
      directory,
      environment: {},
      shutdown: new AbortController().signal,
      reload: new EventTarget(),
      print: (text) => out.push(text),
      printError: (text) => out.push(text),
    })
    expect([code, out.at(-1)]).toEqual([0, 'source   t: ok'])
    const unseen = out.filter((line) => line.startsWith('undeclared '))
    expect(unseen.map((line) => line.split(/ +/)[1]).sort()).toEqual([
      'Mutation.reset',
      'Query.calls',
      'Query.summary',
      'Thing.sum',
    ])
    expect(unseen.join('\n')).toContain("dependencies: { 'Mutation.reset': { changes: [...] } }")
    expect(unseen.join('\n')).toContain("dependencies: { 'Query.calls': { dependsOn: [...] } }")
  })
})

it('check lists values and numbers that can be computed from other entities', () => {
  const schema = buildSchema(`
    type Query { cart: Cart category: Category account: Account product: Product sales: Sales }
    type Money { amount: Int }
    type Product { id: ID! price: Money productId: Int }
    type Account { id: ID! balance: Money }
    type Line { product: Product }
    type Cart { id: ID! total: Money lines: [Line] }
    type Category { id: ID! productCount: Int }
    type Sales { best: [Product] products: Int categories: Int revenue: Money }
  `)
  const lines = undeclaredLines(schema, true)
  expect(lines.map((line) => line.split(',')[0])).toEqual([
    'Cart.total can be computed from Product',
    'Category.productCount can be computed from Product',
    'Sales.categories can be computed from Category',
    'Sales.revenue can be computed from Account',
  ])
  expect(lines[0]).toContain("dependencies: { 'Cart.total': { dependsOn: [...] } }")
  const sales = schema.getType('Sales')
  for (const name of ['revenue', 'categories'])
    if (isObjectType(sales)) sales.getFields()[name]!.extensions = { dependsOn: [] }
  expect(undeclaredLines(schema, true)).toHaveLength(2)
})

describeWithRedis('gateways of different tenants on one Redis', () => {
  const tenants: readonly [string, (tenant: string) => Partial<RestSourceConfig>][] = [
    ['static headers', (tenant) => ({ defaultHeaders: { 'x-tenant': tenant } })],
    ['static credentials', (tenant) => ({ interceptors: [bearer(tenant)] })],
    [
      'credentials of the environment',
      (tenant) => ({ interceptors: [bearer({ env: 'TOKEN' }, { env: { TOKEN: tenant } })] }),
    ],
    [
      'an endpoint of another path',
      (tenant) => ({ endpoints: [{ name: 'thing', path: `/${tenant}`, responseSchema: thing }] }),
    ],
  ]

  it.each([...tenants, ['backends of their own', () => ({})] as const, ['a prefix', () => ({})] as const])(
    '%s: none answers from the entries of the other',
    async (title, options) => {
      const redis = await startRedis()
      onTestFinished(() => redis[Symbol.asyncDispose]())
      const shared = await restSource()
      const start = async (tenant: string) =>
        startGateway({
          redisUrl: redis.url,
          rest: {
            t: { ...(title === 'backends of their own' ? await restSource() : shared), ...options(tenant) },
          },
          responseCache: title === 'a prefix' ? { prefix: tenant } : true,
        })
      const [one, two, again] = [await start('a'), await start('b'), await start('a')]
      const query = '{ thing { seenBy } }'
      await expect.poll(async () => (await ask(one, query)).cache, { timeout: 5_000 }).toBe('HIT')
      await expect.poll(async () => (await ask(two, query)).cache, { timeout: 5_000 }).toBe('MISS')
      if (title === 'backends of their own') return
      await expect.poll(async () => (await ask(again, query)).cache, { timeout: 5_000 }).toBe('HIT')
    },
  )
})
