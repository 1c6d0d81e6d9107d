import { useGraphQLSSE } from '@graphql-yoga/plugin-graphql-sse'
import { useSofa } from '@graphql-yoga/plugin-sofa'
import { describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../../../apps/gateway/src/config/types.ts'
import { post, startGateway } from '../../../apps/gateway/test/support/gateway.ts'

// Plugins with a transport of their own execute operations by what Envelop hands them. What the gateway says of operations holds
// there as everywhere.

const SECRET = 'the value that nobody may see'

interface OwnWay {
  plugin(): object
  read(origin: string): Promise<string>
  rename(origin: string, name: string): Promise<string>
  readSecret(origin: string): Promise<string>
}

const overSse = async (origin: string, query: string): Promise<string> => {
  const response = await fetch(`${origin}/graphql/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  })
  return response.text()
}

const WAYS: Readonly<Record<string, OwnWay>> = {
  '@graphql-yoga/plugin-graphql-sse': {
    plugin: () => useGraphQLSSE({ endpoint: '/graphql/stream' }),
    read: (origin) => overSse(origin, '{ user(id: "1") { id name } }'),
    readSecret: (origin) => overSse(origin, '{ secret }'),
    rename: (origin, name) => overSse(origin, `mutation { rename(id: "1", name: "${name}") { id } }`),
  },
  '@graphql-yoga/plugin-sofa': {
    plugin: () => useSofa({ basePath: '/rest' }),
    read: async (origin) => (await fetch(`${origin}/rest/user/1`)).text(),
    readSecret: async (origin) => (await fetch(`${origin}/rest/secret`)).text(),
    async rename(origin, name) {
      const response = await fetch(`${origin}/rest/rename`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: '1', name }),
      })
      return response.text()
    },
  },
}

async function start(plugin: object, more: Partial<GatewayConfig> = {}) {
  let name = 'Ada'
  const { server, endpoint } = await startGateway({
    typeDefs: /* GraphQL */ `
      type User {
        id: ID!
        name: String
      }
      type Query {
        user(id: ID!): User
        secret: String
      }
      type Mutation {
        rename(id: ID!, name: String!): User
      }
    `,
    resolvers: {
      Query: { user: (_: unknown, { id }: { id: string }) => ({ id, name }), secret: () => SECRET },
      Mutation: { rename: (_: unknown, given: { id: string; name: string }) => ((name = given.name), given) },
    },
    dependencies: { 'Query.user': { variesBy: [] } },
    responseCache: true,
    plugins: [Object.assign(plugin, { readsHeaders: [] })] as GatewayConfig['plugins'],
    ...more,
  })
  const ask = async () => {
    const response = await post(endpoint, { query: '{ user(id: "1") { name } }' })
    const { data } = (await response.json()) as any
    return [response.headers.get('x-cache'), data.user.name]
  }
  return { origin: server.url, ask }
}

describe.each(Object.entries(WAYS))('%s', (_, way) => {
  it('rules for fields hold', async () => {
    const access = { fields: { 'Query.secret': { authenticated: true } } } as const
    const { origin } = await start(way.plugin(), { access })
    expect(await way.read(origin)).toContain('Ada')
    expect(await way.readSecret(origin)).not.toContain(SECRET)
  })

  it('a mutation evicts what is cached', async () => {
    const { origin, ask } = await start(way.plugin())
    expect([await ask(), await ask()]).toEqual([
      ['MISS', 'Ada'],
      ['HIT', 'Ada'],
    ])
    expect(await way.rename(origin, 'Eve')).toContain('1')
    expect(await ask()).toEqual(['MISS', 'Eve'])
    expect(await way.read(origin)).toContain('Eve')
  })

  it('operations are counted', async () => {
    const { origin } = await start(way.plugin(), { metrics: true })
    for (let time = 0; time < 3; time++) await way.read(origin)
    const text = await (await fetch(`${origin}/metrics`)).text()
    expect(text).toMatch(/vinyasa_operations_total\{[^}]*\} 3/)
  })

  it('the cost is limited', async () => {
    const { origin } = await start(way.plugin(), {
      cost: { max: 5, fields: { 'Query.user': { weight: 10 } } },
    })
    expect(await way.read(origin)).not.toContain('Ada')
  })
})
