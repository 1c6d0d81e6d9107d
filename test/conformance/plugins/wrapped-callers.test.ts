import { useGraphQLMiddleware } from '@envelop/graphql-middleware'
import { rule, shield } from 'graphql-shield'
import { expect, it } from 'vitest'
import type { GatewayConfig } from '../../../apps/gateway/src/config/types.ts'
import { openGateway, post, startGateway } from '../../../apps/gateway/test/support/gateway.ts'

// A plugin that wraps resolvers may read who asks, and nobody sees it.

const isAlice = rule({ cache: 'contextual' })(
  (_, __, { request }: any) => request.headers.get('x-user') === 'alice',
)

const configWith = (plugin: object): GatewayConfig => ({
  typeDefs: 'type Query { hidden: String }',
  resolvers: { Query: { hidden: () => 'hidden' } },
  dependencies: { 'Query.hidden': { variesBy: [] } },
  responseCache: true,
  plugins: [plugin] as GatewayConfig['plugins'],
})
const shielded = (): object => useGraphQLMiddleware([shield({ Query: { hidden: isAlice } }) as never])

it('a plugin that sees the schema has to say what it reads, where answers are cached', async () => {
  await expect(openGateway(configWith(shielded()))).rejects.toThrow(
    'plugins[0] may change results depending on the caller; set readsHeaders',
  )
})

it('one that says it shares no answer with others', async () => {
  const { endpoint } = await startGateway(configWith(Object.assign(shielded(), { readsHeaders: ['x-user'] })))
  const ask = async (user: string) =>
    (await post(endpoint, { query: '{ hidden }' }, { 'x-user': user })).json()
  for (let time = 0; time < 3; time++) {
    await expect(ask('alice')).resolves.toEqual({ data: { hidden: 'hidden' } })
    await expect(ask('bob')).resolves.toMatchObject({ data: { hidden: null } })
  }
})
