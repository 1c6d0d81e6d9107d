import {
  AUDIENCE,
  followLiveEvents,
  followLiveFrames,
  startIssuer,
  waitUntil,
  type LiveUpdate,
} from '@vinyasa/test-kit'
import { extendSchema, parse } from 'graphql'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { post, startGateway } from './support/gateway.ts'

type Resolver = (root: any, args: any, context: any, info: any) => unknown

const mine: Resolver = (_root, _args, { auth }) => auth?.claims.sub ?? 'nobody'

class OwnProperties {
  mine = mine
}
class Methods {
  #read = mine
  mine(...given: Parameters<Resolver>): unknown {
    return this.#read(...given)
  }
}
class Inherits extends Methods {}

const withoutPrototype = <T extends object>(members: T): T => Object.assign(Object.create(null), members)

/** The same code in every shape that a config may have it in. */
const SHAPES: readonly (readonly [name: string, config: Partial<GatewayConfig>, query?: string])[] = [
  ['an object', { resolvers: { Query: { mine } } }],
  ['a module namespace', { resolvers: { Query: await import('./support/own-code/query.ts') } as any }],
  [
    'a module namespace of module namespaces',
    { resolvers: (await import('./support/own-code/resolvers.ts')) as any },
  ],
  ['an instance of a class', { resolvers: { Query: new OwnProperties() } as any }],
  ['an instance of a class with methods', { resolvers: { Query: new Methods() } as any }],
  ['an instance of a class that inherits methods', { resolvers: { Query: new Inherits() } as any }],
  [
    'an object without a prototype',
    { resolvers: withoutPrototype({ Query: withoutPrototype({ mine }) }) as any },
  ],
  ['an object that inherits', { resolvers: { Query: Object.create({ mine }) } as any }],
  ['a function with properties', { resolvers: { Query: Object.assign(() => {}, { mine }) } as any }],
  [
    'a getter',
    {
      resolvers: {
        get Query() {
          return {
            get mine() {
              return mine
            },
          }
        },
      } as any,
    },
  ],
  ['frozen objects', { resolvers: Object.freeze({ Query: Object.freeze({ mine }) }) }],
  ['a proxy', { resolvers: new Proxy({ Query: new Proxy({ mine }, {}) }, {}) }],
  ['a field with settings', { resolvers: { Query: { mine: { resolve: mine } } } as any }],
  [
    'a field that is an instance of a class',
    {
      resolvers: {
        Query: {
          mine: new (class {
            resolve = mine
          })(),
        },
      } as any,
    },
  ],
  ['what a function returned', { resolvers: (() => ({ Query: { mine } }))() }],
  [
    'a field of another type',
    {
      typeDefs: 'type Query { me: Me } type Me { mine: String }',
      resolvers: { Query: { me: () => ({}) }, Me: new OwnProperties() } as any,
      dependencies: { 'Query.me': { variesBy: [] } },
    },
    '{ me { mine } }',
  ],
  [
    'the type that code chooses',
    {
      typeDefs: 'union Me = A | B type A { mine: String } type B { mine: String } type Query { me: Me }',
      resolvers: {
        Query: { me: () => ({}) },
        Me: withoutPrototype({
          __resolveType: (_: unknown, { auth }: any) => (auth?.claims.sub === 'alice' ? 'A' : 'B'),
        }),
        A: { mine: () => 'alice' },
        B: { mine: () => 'bob' },
      } as any,
      dependencies: { 'A.mine': { variesBy: [] }, 'B.mine': { variesBy: [] } },
    },
    '{ me { ... on A { mine } ... on B { mine } } }',
  ],
  [
    'a plugin that adds a field',
    {
      typeDefs: 'type Query { other: String }',
      plugins: [addsField()],
      resolvers: undefined,
    },
  ],
]

/** The added field has no origin, and `readsHeaders` is about what else the plugin does. */
function addsField(): any {
  return {
    readsHeaders: [],
    onSchemaChange({ schema, replaceSchema }: any) {
      if (schema.getQueryType()?.getFields().mine) return
      const extended = extendSchema(schema, parse('extend type Query { mine: String }'))
      extended.extensions = schema.extensions
      extended.getQueryType()!.getFields()['mine']!.resolve = mine
      replaceSchema(extended)
    },
  }
}

async function start(config: Partial<GatewayConfig>) {
  const issuer = await startIssuer()
  onTestFinished(() => issuer[Symbol.asyncDispose]())
  const { endpoint, gateway } = await startGateway({
    typeDefs: 'type Query { mine: String }',
    responseCache: true,
    liveQuery: { defaults: { enabled: true } },
    auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }] } },
    graphql: { batching: 3 },
    ...config,
  })
  const as = (sub: string) => ({ authorization: `Bearer ${issuer.token({ claims: { sub } })}` })
  return { endpoint, gateway, as }
}

/** A shared cache: it keeps what `Cache-Control` lets it keep, whatever the token. */
function sharedCache(endpoint: string) {
  const kept = new Map<string, string>()
  return async (query: string, headers: Record<string, string>): Promise<string> => {
    const url = `${endpoint}?query=${encodeURIComponent(query)}`
    const known = kept.get(url)
    if (known !== undefined) return known
    const response = await fetch(url, { headers: { 'x-graphql-yoga-csrf': '1', ...headers } })
    const text = await response.text()
    const control = response.headers.get('cache-control')
    expect(control).not.toBeNull()
    if (!/private|no-store/.test(String(control))) kept.set(url, text)
    return text
  }
}

/** Returns what the first update of a live query shows each, all of them subscribed at the same time. */
async function firstUpdates(
  follow: typeof followLiveEvents | typeof followLiveFrames,
  endpoint: string,
  query: string,
  all: readonly Record<string, string>[],
): Promise<string[]> {
  const abort = new AbortController()
  const shown: LiveUpdate[][] = []
  for (const [index, headers] of all.entries()) {
    const updates: LiveUpdate[] = (shown[index] = [])
    const options = {
      headers,
      query: query.replace('{', 'query @live {'),
      signal: abort.signal,
      onUpdate: (update: LiveUpdate) => void updates.push(update),
    }
    void follow(endpoint, options).catch(() => {})
    await waitUntil(() => updates.length > 0, { awaited: 'a first update' })
  }
  abort.abort()
  return shown.map(([first]) => JSON.stringify(first))
}

describe.each(SHAPES.map(([name, config, query = '{ mine }']) => ({ name, config, query })))(
  'resolvers as $name',
  ({ config, query }) => {
    it.each(['development', 'production'] as const)(
      'give nobody the data of another user, %s',
      async (preset) => {
        const { endpoint, as, gateway } = await start({ preset, ...config })
        const [alice, bob] = [as('alice'), as('bob')]
        const byPost = async (headers: Record<string, string>): Promise<string> =>
          (await post(endpoint, { query }, headers)).text()
        expect(await byPost(alice)).toContain('alice')
        expect(await byPost(bob)).toMatch(/bob(?!.*alice)/)
        const get = sharedCache(endpoint)
        expect(await get(query, alice)).toContain('alice')
        expect(await get(query, bob)).toMatch(/bob(?!.*alice)/)
        const batch = async (headers: Record<string, string>): Promise<string> =>
          (await post(endpoint, [{ query }, { query: `# 2\n${query}` }], headers)).text()
        expect(await batch(alice)).toMatch(/alice.*alice/)
        expect(await batch(bob)).toMatch(/^(?!.*alice).*bob.*bob/)
        for (const follow of [followLiveEvents, followLiveFrames]) {
          const shown = await firstUpdates(follow, endpoint, query, [alice, bob])
          expect(shown[0]).toContain('alice')
          expect(shown[1]).toMatch(/bob(?!.*alice)/)
        }
        expect(gateway.notes).toEqual([
          {
            source: 'dependencies',
            note: expect.stringMatching(
              /^responses with .* are not cached.*dependencies: \{ '\w+\.\w+': \{ variesBy: \[\] \} \}$/,
            ),
          },
        ])
      },
    )
  },
)

it.each(SHAPES.slice(0, 15))(
  'resolvers as %s are cached if their readers are declared',
  async (_name, config) => {
    const { endpoint, as, gateway } = await start({
      ...(config as Partial<GatewayConfig>),
      dependencies: { 'Query.mine': { variesBy: ['authorization'] } },
    })
    const cacheOf = async (sub: string) => {
      const response = await post(endpoint, { query: '{ mine }' }, as(sub))
      return [response.headers.get('x-cache'), await response.json()]
    }
    const alice = { data: { mine: 'alice' } }
    // A second token of alice is another one.
    const token = as('alice')
    const ask = async () => (await post(endpoint, { query: '{ mine }' }, token)).headers.get('x-cache')
    expect([await ask(), await ask()]).toEqual(['MISS', 'HIT'])
    expect(await cacheOf('bob')).toEqual(['MISS', { data: { mine: 'bob' } }])
    expect(await cacheOf('alice')).toEqual([expect.anything(), alice])
    expect(gateway.notes).toEqual([])
  },
)
