import { startRestBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { post, startGateway } from './support/gateway.ts'

type Resolver = (root: any, args: any, context: any) => unknown

const called =
  (contextOf: (context: any) => object | null | undefined): Resolver =>
  async (_root, _args, context) => {
    const scope = { context: contextOf(context) }
    return ((await context.sources.shop.execute('thing', {}, scope)) as { name: string }).name
  }

/** Ways in which a response of the API gets into a result. */
const ways: [string, string, Resolver | undefined][] = [
  ['a root field', '{ thing { name } }', undefined],
  ['a join', '{ stored { other { name } } }', undefined],
  ['code that calls the source', '{ mine }', called((context) => context)],
  [
    'code that calls the source with a copy of the context',
    '{ mine }',
    called((context) => ({ ...context })),
  ],
  ['code that calls the source for nobody', '{ mine }', called(() => null)],
]

async function serve(cacheControl: string, mine: Resolver = () => 'mine', limitsResponseCache?: boolean) {
  const backend = await startRestBackend(({ url }) => ({
    json: { id: '1', name: 'thing' },
    headers: { 'cache-control': url.pathname === '/stored' ? 'max-age=600' : cacheControl },
  }))
  onTestFinished(() => backend[Symbol.asyncDispose]())
  const fields = { id: 'string!', name: 'string' }
  const rest: GatewayConfig['rest'] = {
    shop: {
      baseUrl: backend.url,
      healthPath: false,
      limitsResponseCache,
      endpoints: [
        { name: 'thing', path: '/thing', responseSchema: { typeName: 'Thing', fields } },
        { name: 'stored', path: '/stored', responseSchema: { typeName: 'Stored', fields } },
        {
          name: 'other',
          path: '/other/{id}',
          returnType: 'Thing',
          rootField: false,
          on: { type: 'Stored', field: 'other', args: { id: '{id}' } },
        },
      ],
    },
  }
  const resolvers = { Query: { mine } } as GatewayConfig['resolvers']
  return startGateway({
    rest,
    typeDefs: 'extend type Query { mine: String }',
    resolvers,
    dependencies: { 'Query.mine': { variesBy: [] } } as never,
    responseCache: true,
    graphql: { batching: 2 },
  })
}

describe.each(ways)('a response that %s brings into a result', (_way, query, mine) => {
  it.each([
    ['no-store', 'MISS'],
    ['private, max-age=60', 'MISS'],
    ['max-age=0', 'MISS'],
    ['max-age=60', 'HIT'],
  ])('limits how long it is kept: %s', async (cacheControl, expected) => {
    const { endpoint } = await serve(cacheControl, mine)
    const ask = async () => (await post(endpoint, { query })).headers.get('x-cache')
    await ask()
    expect(await ask()).toBe(expected)
    const batch = [{ query: '{ stored { name } }' }, { query }]
    const batches = async () => (await post(endpoint, batch)).headers.get('x-cache')
    await batches()
    expect(await batches()).toBe(`HIT, ${expected}`)
  })
})

it('limitsResponseCache of one connector turns it off', async () => {
  const { endpoint } = await serve('no-store', undefined, false)
  const ask = async () => (await post(endpoint, { query: '{ thing { name } }' })).headers.get('x-cache')
  expect([await ask(), await ask()]).toEqual(['MISS', 'HIT'])
})
