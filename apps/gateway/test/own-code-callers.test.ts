import { setTimeout } from 'node:timers/promises'
import {
  AUDIENCE,
  followLiveEvents,
  followLiveFrames,
  startIssuer,
  startRestBackend,
  waitUntil,
  type LiveUpdate,
} from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { post, startGateway } from './support/gateway.ts'

type Resolvers = NonNullable<GatewayConfig['resolvers']>
type Resolver = (root: any, args: any, context: any, info: any) => unknown

/** A REST API that says in whose name it was asked. */
async function shop(): Promise<GatewayConfig['rest']> {
  const backend = await startRestBackend(({ headers }) => ({
    json: { id: '1', tenant: headers['x-tenant'] ?? 'nobody' },
  }))
  onTestFinished(() => backend[Symbol.asyncDispose]())
  return {
    shop: {
      baseUrl: backend.url,
      forwardHeaders: ['X-Tenant'],
      healthPath: false,
      endpoints: [
        {
          name: 'tenant',
          path: '/tenant',
          responseSchema: { typeName: 'Tenant', fields: { tenant: 'string!' } },
        },
      ],
    },
  }
}

const callsShop: Resolver = async (_root, _args, context) =>
  ((await context.sources.shop.execute('tenant', {}, { context })) as { tenant: string }).tenant
const callsShopByItself: Resolver = async (_root, _args, { sources }) =>
  ((await sources.shop.execute('tenant', {})) as { tenant: string }).tenant
const callsShopForNobody: Resolver = async (_root, _args, { sources }) =>
  ((await sources.shop.execute('tenant', {}, { context: null })) as { tenant: string }).tenant
const reads =
  (name: string): Resolver =>
  (_root, _args, { request }) =>
    request.headers.get(name) ?? 'nobody'

/** Ways in which code of the config comes to read the tenant, behind `{ mine }`, `{ me { mine } }` or another query. */
const WAYS: readonly (readonly [string, string, Resolvers])[] = [
  ['a root field calls a source', '{ mine }', { Query: { mine: callsShop } }],
  ['a root field calls a source and names no context', '{ mine }', { Query: { mine: callsShopByItself } }],
  ['a root field with settings', '{ mine }', { Query: { mine: { resolve: callsShop } } } as Resolvers],
  [
    'a source is called with a copy of the context',
    '{ mine }',
    {
      Query: {
        mine: (root: unknown, args: unknown, context: any, info: unknown) =>
          callsShop(root, args, { ...context }, info),
      },
    },
  ],
  ['a root field reads the header', '{ mine }', { Query: { mine: reads('X-Tenant') } }],
  [
    'a field of another type',
    '{ me { mine } }',
    { Query: { me: () => ({}) }, Me: { mine: reads('x-tenant') } },
  ],
  [
    'a method of what a resolver gave',
    '{ me { mine } }',
    {
      Query: {
        me: () => ({
          mine: (_args: unknown, context: any) => reads('x-tenant')(undefined, {}, context, undefined),
        }),
      },
    },
  ],
  [
    'the type of an interface',
    '{ either { ... on Me { mine } ... on You { mine } } }',
    {
      Query: { either: () => ({ mine: 'mine' }) },
      Either: {
        __resolveType: (_value: unknown, { request }: any) =>
          request.headers.get('x-tenant') === 'acme' ? 'Me' : 'You',
      },
      Me: { mine: () => 'acme' },
      You: { mine: () => 'evil' },
    },
  ],
  [
    'a reference of a federation',
    '{ _entities(representations: [{ __typename: "Me", id: "1" }]) { ... on Me { mine } } }',
    {
      Me: {
        __resolveReference: (_reference: unknown, context: any) => ({
          mine: context.request.headers.get('x-tenant') ?? 'nobody',
        }),
      },
    } as Resolvers,
  ],
  [
    'a lookup of a federation',
    '{ _entities(representations: [{ __typename: "You", id: "1" }]) { ... on You { mine } } }',
    {
      Query: {
        you: (root: unknown, args: unknown, context: any, info: unknown) => ({
          mine: callsShop(root, args, context, info),
        }),
      },
    },
  ],
]

const typeDefs = /* GraphQL */ `
  interface Either {
    mine: String
  }
  type Me implements Either @key(fields: "id") {
    id: ID
    mine: String
  }
  type You implements Either @key(fields: "id") {
    id: ID
    mine: String
  }
  type Query {
    mine: String
    other: String
    me: Me
    you(id: ID!): You
    either: Either
  }
`

async function start(config: GatewayConfig) {
  const { endpoint, gateway } = await startGateway({
    typeDefs,
    federation: true,
    responseCache: true,
    ...config,
  })
  const get = async (query: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${endpoint}?query=${encodeURIComponent(query)}`, {
      headers: { accept: 'application/json', 'x-graphql-yoga-csrf': '1', ...headers },
    })
    const text = await response.text()
    return {
      text,
      cache: response.headers.get('x-cache'),
      control: response.headers.get('cache-control') ?? '',
      vary: (response.headers.get('vary') ?? '').toLowerCase().split(', '),
      ...(JSON.parse(text) as { data?: any; errors?: any[] }),
    }
  }
  return {
    endpoint,
    gateway,
    get,
    ask: async (query: string, headers = {}) => (await post(endpoint, { query }, headers)).json() as any,
  }
}

/** What a live client of each is shown first. */
async function firstUpdates(endpoint: string, query: string, asked: readonly Record<string, string>[]) {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const shown: LiveUpdate[][] = []
  for (const [index, headers] of asked.entries()) {
    const updates: LiveUpdate[] = (shown[index] = [])
    const options = {
      headers,
      query: query.replace('{', 'query @live {'),
      signal: abort.signal,
      onUpdate: (update: LiveUpdate) => void updates.push(update),
    }
    const follow = index % 2 === 0 ? followLiveEvents : followLiveFrames
    void follow(endpoint, options).catch(() => {})
    await waitUntil(() => updates.length > 0, { awaited: 'a first update' })
  }
  abort.abort()
  return shown.map(([first]) => first)
}

const ACME = { 'x-tenant': 'acme' }
const EVIL = { 'x-tenant': 'evil' }

describe.each(WAYS)('%s', (_name, query, resolvers) => {
  it.each(['development', 'production'] as const)(
    'nobody gets what was computed for another, %s',
    async (preset) => {
      const { get, ask, endpoint } = await start({
        preset,
        rest: await shop(),
        resolvers,
        federation: true,
        liveQuery: { defaults: { enabled: true } },
      })
      const first = await get(query, ACME)
      expect(first.text).not.toContain('errors')
      expect(first.text).toMatch(/acme|mine/)
      const other = await get(query, EVIL)
      expect(other.text).not.toContain('acme')
      expect(other.cache).not.toBe('HIT')
      expect((await get(query, ACME)).cache).not.toBe('HIT')
      expect(first.control).toBe('private, no-store')
      expect(JSON.stringify(await ask(query, EVIL))).not.toContain('acme')
      const shown = await firstUpdates(endpoint, query, [ACME, EVIL, EVIL, ACME])
      expect(shown.map((one) => JSON.stringify(one).includes('acme'))).toEqual([true, false, false, true])
    },
  )
})

describe('a call that names no context', () => {
  it.each([true, false])(
    'is made for whoever asks, whether anything may be kept for others: %s',
    async (kept) => {
      const { ask } = await start({
        rest: await shop(),
        resolvers: { Query: { mine: callsShopByItself } },
        ...(!kept && { responseCache: false, liveQuery: false }),
      })
      expect((await ask('{ mine }', ACME)).data).toEqual({ mine: 'acme' })
      expect((await ask('{ mine }', EVIL)).data).toEqual({ mine: 'evil' })
    },
  )
})

/** Ways in which operations come to the same code; each gives the body of its answer. */
const WAYS_IN: readonly (readonly [string, object, string])[] = [
  ['a query', { query: '{ mine }' }, '*/*'],
  ['a batch', [{ query: '{ mine }' }, { query: '{ a: mine }' }], '*/*'],
  ['a mutation', { query: 'mutation { change }' }, '*/*'],
  ['a subscription', { query: 'subscription { changed }' }, 'text/event-stream'],
  ['a deferred field', { query: '{ __typename ... @defer { mine } }' }, 'multipart/mixed'],
  ["a plugin's hook", { query: '{ __typename }', extensions: { hooked: true } }, '*/*'],
]
it.each(WAYS_IN)('a call that names no context is made for who asks by %s', async (_, body, accept) => {
  const { endpoint } = await startGateway({
    rest: await shop(),
    responseCache: true,
    graphql: { batching: 2 },
    typeDefs:
      'type Query { mine: String } type Mutation { change: String } type Subscription { changed: String }',
    resolvers: {
      Query: { mine: callsShopByItself },
      Mutation: { change: callsShopByItself },
      Subscription: {
        changed: {
          async *subscribe(root: unknown, args: unknown, context: any, info: unknown) {
            yield { changed: await callsShopByItself(root, args, context, info) }
          },
        },
      },
    },
    plugins: [
      {
        readsHeaders: ['x-tenant'],
        async onExecute({ args, setResultAndStopExecution }) {
          const context = args.contextValue as any
          if (!context.params.extensions?.hooked) return
          const hooked = await context.sources.shop.execute('tenant')
          setResultAndStopExecution({ data: { hooked: hooked.tenant } })
        },
      },
    ],
  })
  const answer = async (headers: Record<string, string>): Promise<string> =>
    (
      await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, ...headers },
        body: JSON.stringify(body),
      })
    ).text()
  expect(await answer(ACME)).toMatch(/acme(?!.*evil)/)
  expect(await answer(EVIL)).toMatch(/evil(?!.*acme)/)
})

it('the sources of a context can be listed, spread and asked for by any name', async () => {
  const { ask } = await start({
    rest: await shop(),
    responseCache: false,
    resolvers: {
      Query: {
        mine: (_root, _args, { sources }) =>
          `${Object.keys(sources).join()} ${'execute' in { ...sources }.shop} ${typeof sources.other}`,
      },
    },
  })
  expect((await ask('{ mine }')).data).toEqual({ mine: 'shop true undefined' })
})

describe('a call for nobody', () => {
  it('is the same for everybody, and may be stated so', async () => {
    const { get } = await start({
      rest: await shop(),
      resolvers: { Query: { mine: callsShopForNobody } },
      dependencies: { 'Query.mine': { variesBy: [] } },
    })
    const first = await get('{ mine }', ACME)
    expect(first.data).toEqual({ mine: 'nobody' })
    expect(first.control).toMatch(/^public/)
    expect(await get('{ mine }', EVIL)).toMatchObject({ cache: 'HIT', data: { mine: 'nobody' } })
  })
})

/** Whatever two requests for one thing may differ by. */
const UNDECLARED: readonly (readonly [string, Resolver])[] = [
  ['a header', reads('X-Lang')],
  ['whether there is one', (_, __, { request }) => String(request.headers.has('x-lang'))],
  ['all headers', (_, __, { request }) => JSON.stringify([...request.headers])],
  ['a copy of the request', (_, __, { request }) => request.clone().headers.get('x-lang')],
  ["Node's request", (_, __, { req }) => req.headers['x-lang']],
  ["the operation's extensions", (_, __, { params }) => JSON.stringify(params.extensions ?? null)],
]

it.each(UNDECLARED)(
  '%s, read by code that declares nothing, keeps the response to itself',
  async (_, mine) => {
    for (const preset of ['development', 'production'] as const) {
      const { get, endpoint } = await start({
        preset,
        resolvers: { Query: { mine, other: () => 'same' } },
        dependencies: { 'Query.other': { variesBy: [] } },
        graphql: { batching: 2 },
      })
      for (const lang of ['de', 'en', 'de']) {
        const answer = await get('{ mine }', { 'x-lang': lang })
        expect(answer).toMatchObject({ cache: 'BYPASS', control: 'private, no-store' })
        expect(answer.text).not.toContain('errors')
      }
      const both = await post(endpoint, [{ query: '{ mine }' }, { query: '{ other }' }])
      expect(await both.json()).toHaveLength(2)
      expect((await get('{ other }')).cache).toBe('HIT')
    }
  },
)

it('code that declares nothing is not shared by those who wait for the same', async () => {
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  let waiting = 0
  const mine: Resolver = async (_root, _args, { request }) => {
    waiting++
    await gate
    return request.headers.get('x-lang')
  }
  const { get } = await start({ preset: 'production', resolvers: { Query: { mine } } })
  const asked = ['de', 'en', 'fr'].map((lang) => get('{ mine }', { 'x-lang': lang }))
  await waitUntil(() => waiting === 3, { awaited: 'all three' })
  release()
  expect((await Promise.all(asked)).map(({ data }) => data.mine)).toEqual(['de', 'en', 'fr'])
})

describe('a statement', () => {
  it('of a header tells callers apart by it alone, on the wire too', async () => {
    const { get } = await start({
      rest: await shop(),
      resolvers: { Query: { mine: reads('x-lang') } },
      dependencies: { 'Query.mine': { variesBy: ['X-Lang'] } },
    })
    const first = await get('{ mine }', { 'x-lang': 'de' })
    expect(first.vary).toContain('x-lang')
    expect(first.vary).not.toContain('x-tenant')
    expect((await get('{ mine }', { 'x-lang': 'en' })).data).toEqual({ mine: 'en' })
    expect((await get('{ mine }', { 'x-lang': 'de', ...EVIL })).cache).toBe('HIT')
  })

  it.each([callsShop, callsShopByItself])(
    'that is too narrow is found by the call of a source',
    async (mine) => {
      const config = {
        rest: await shop(),
        resolvers: { Query: { mine } },
        dependencies: { 'Query.mine': { variesBy: [] } },
        liveQuery: { defaults: { enabled: true } },
      }
      const error = {
        extensions: { code: 'UNDECLARED_READ' },
        message: expect.stringMatching(
          /context\.sources\.shop, which forwards the request header "x-tenant".*variesBy: \['x-tenant'\]/,
        ),
      }
      const development = await start(config)
      expect((await development.get('{ mine }', ACME)).errors).toMatchObject([error])
      const production = await start({ ...config, preset: 'production' })
      for (const [headers, tenant] of [
        [ACME, 'acme'],
        [EVIL, 'evil'],
        [ACME, 'acme'],
      ] as const)
        expect(await production.get('{ mine }', headers)).toMatchObject({
          cache: 'MISS',
          control: 'private, no-store',
          data: { mine: tenant },
        })
      const [update] = await firstUpdates(production.endpoint, '{ mine }', [ACME])
      expect(update?.errors).toMatchObject([error])
    },
  )

  it('that is too narrow is found by a refresh of a stale response too', async () => {
    let calls = 0
    const { get } = await start({
      preset: 'production',
      rest: await shop(),
      // The first call shows nothing yet.
      resolvers: { Query: { mine: (...given) => (calls++ === 0 ? 'first' : callsShopByItself(...given)) } },
      dependencies: { 'Query.mine': { variesBy: [] } },
      responseCache: { defaultTtlMs: 1, staleWhileRevalidateMs: 60_000 },
    })
    expect((await get('{ mine }', ACME)).data).toEqual({ mine: 'first' })
    await waitUntil(async () => (await get('{ mine }', EVIL)).cache === 'STALE', {
      awaited: 'a stale response',
    })
    await waitUntil(() => calls > 1, { awaited: 'the refresh' })
    await setTimeout(100)
    expect((await get('{ mine }', ACME)).text).not.toContain('evil')
  })

  it('takes nothing away from what a source says of its own field', async () => {
    const { get } = await start({ rest: await shop(), dependencies: { 'Query.tenant': { variesBy: [] } } })
    await get('{ tenant { tenant } }', ACME)
    expect((await get('{ tenant { tenant } }', EVIL)).data).toEqual({ tenant: { tenant: 'evil' } })
  })
})

describe('claims', () => {
  async function signed(config: GatewayConfig, jwt = {}) {
    const issuer = await startIssuer()
    onTestFinished(() => issuer[Symbol.asyncDispose]())
    const started = await start({
      auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }], ...jwt } },
      resolvers: { Query: { mine: ((_root, _args, { auth }) => auth?.claims.sub ?? 'nobody') as Resolver } },
      ...config,
    })
    const token = (sub: string): string => issuer.token({ claims: { sub } })
    return { ...started, token }
  }

  it.each([[['x-lang']], [[]], [undefined]])('are told apart with varyHeaders %j', async (varyHeaders) => {
    const { get, token } = await signed({
      responseCache: { varyHeaders },
      dependencies: { 'Query.mine': { variesBy: ['authorization'] } },
    })
    const admin = await get('{ mine }', { authorization: `Bearer ${token('admin')}`, 'x-lang': 'en' })
    expect(admin).toMatchObject({ data: { mine: 'admin' }, control: 'private, no-cache' })
    expect(admin.vary).toContain('authorization')
    const bob = await get('{ mine }', { authorization: `Bearer ${token('bob')}`, 'x-lang': 'en' })
    expect(bob).toMatchObject({ data: { mine: 'bob' }, cache: 'MISS' })
    expect((await get('{ mine }')).data).toEqual({ mine: 'nobody' })
  })

  it('are told apart wherever the token stands', async () => {
    const { get, token } = await signed(
      { responseCache: { session: ({ auth }: any) => auth?.claims.sub ?? '' } },
      { header: 'x-token', scheme: '' },
    )
    const admin = { 'x-token': token('admin') }
    expect((await get('{ mine }', admin)).data).toEqual({ mine: 'admin' })
    const bob = await get('{ mine }', { 'x-token': token('bob') })
    expect(bob).toMatchObject({ data: { mine: 'bob' }, cache: 'MISS' })
    expect(bob.vary).toContain('x-token')
    expect(await get('{ mine }', admin)).toMatchObject({ data: { mine: 'admin' }, cache: 'HIT' })
  })

  it('that headers of backends are made of stand in Vary as the token, where it stands', async () => {
    const { get, token } = await signed(
      { rest: await shop() },
      { header: 'X-Token', scheme: '', forwardClaims: { 'X-Tenant': 'sub' } },
    )
    const nobody = await get('{ tenant { tenant } }')
    expect(nobody).toMatchObject({ control: 'public, no-cache' })
    expect(nobody.vary).toContain('x-token')
    const admin = await get('{ tenant { tenant } }', { 'x-token': token('admin') })
    expect(admin).toMatchObject({ data: { tenant: { tenant: 'admin' } }, control: 'private, no-cache' })
    const again = await get('{ tenant { tenant } }', { 'x-token': token('admin') })
    expect([again.cache, again.vary]).toEqual(['HIT', admin.vary])
    expect((await get('{ you(id: 1) { id } }')).vary).not.toContain('x-token')
  })
})

describe('plugins of the config', () => {
  const speaks = { onExecute: () => undefined }
  const resolvers = { Query: { mine: () => 'same' } }

  it('that may change results need to say what they read, or session', async () => {
    await expect(start({ plugins: [speaks], resolvers })).rejects.toThrow(
      /responseCache cannot determine which clients may share a response: plugins\[0\] may change results depending on the caller; set readsHeaders/,
    )
    await start({ plugins: [speaks], resolvers, responseCache: { session: () => 'all' } })
  })

  it('that fill the context of resolvers need nothing, as code that declares nothing is not cached', async () => {
    const fills: any = {
      onContextBuilding: ({ context, extendContext }: any) =>
        extendContext({ user: context.request.headers.get('x-user') }),
    }
    const { get } = await start({
      plugins: [fills],
      resolvers: { Query: { mine: ((_root, _args, { user }) => user) as Resolver } },
      typeDefs: 'type Query { mine: String }',
      federation: false,
    })
    for (const user of ['alice', 'bob', 'alice'])
      expect(await get('{ mine }', { 'x-user': user })).toMatchObject({
        cache: 'BYPASS',
        data: { mine: user },
      })
  })

  it('tell callers apart by what they say they read', async () => {
    const translates = {
      readsHeaders: ['X-Lang'],
      onExecute: ({ args }: any) => ({
        onExecuteDone: ({ setResult }: any) =>
          setResult({ data: { tenant: { tenant: args.contextValue.request.headers.get('x-lang') } } }),
      }),
    }
    const { get } = await start({ plugins: [translates], rest: await shop(), typeDefs: undefined })
    const first = await get('{ tenant { tenant } }', { 'x-lang': 'de' })
    expect(first.vary).toContain('x-lang')
    await get('{ tenant { tenant } }', { 'x-lang': 'en' })
    expect(await get('{ tenant { tenant } }', { 'x-lang': 'de' })).toMatchObject({
      cache: 'HIT',
      data: { tenant: { tenant: 'de' } },
    })
  })
})
