import { useGraphQlJit } from '@envelop/graphql-jit'
import { execute, GraphQLError } from 'graphql'
import { describe, expect, it } from 'vitest'
import { fetchFrom, openGateway, post, startGateway } from '../../../apps/gateway/test/support/gateway.ts'
import type { GatewayConfig } from '../../../apps/gateway/src/config/types.ts'

// A plugin may bring an executor in the place of the interpreter. As in Envelop all that the gateway does stands around it: it
// limits, refuses, caches and counts the same.

const own = () => ({
  readsHeaders: [],
  onExecute: ({ setExecuteFn }: any) => setExecuteFn((args: any) => execute(args)),
})

/** Looks at the other executor when it is asked, and goes on with it. */
const late = () => ({
  readsHeaders: [],
  onExecute(payload: any) {
    payload.setExecuteFn((args: any) => payload.executeFn(args))
  },
})

const EXECUTORS: Readonly<Record<string, () => object>> = {
  '@envelop/graphql-jit': () => Object.assign(useGraphQlJit(), { readsHeaders: [] }),
  'one of its own': own,
  'one that is set before it looks at the other': late,
}

function configWith(plugin: object): { config: GatewayConfig; resolved: string[] } {
  const resolved: string[] = []
  const names = new Map([['1', 'Ada']])
  return {
    resolved,
    config: {
      typeDefs: /* GraphQL */ `
        type User {
          id: ID!
          name: String
          secret: String
        }
        type Query {
          user(id: ID!): User
          users(first: Int): [User!]
        }
        type Mutation {
          rename(id: ID!, name: String!): User
        }
      `,
      resolvers: {
        Query: {
          user: (_: unknown, { id }: { id: string }) => {
            resolved.push('user')
            return { id, name: names.get(id), secret: 'the value that nobody may see' }
          },
          users: () => [],
        },
        Mutation: {
          rename: (_: unknown, { id, name }: { id: string; name: string }) => (
            names.set(id, name),
            { id, name }
          ),
        },
      },
      dependencies: { 'Query.user': { variesBy: [] } },
      access: { fields: { 'User.secret': { authenticated: true } } },
      plugins: [plugin] as GatewayConfig['plugins'],
    },
  }
}

describe.each(Object.entries(EXECUTORS))('%s', (_, create) => {
  it('rules for fields hold', async () => {
    const { config } = configWith(create())
    const gateway = await openGateway(config)
    for (const time of [0, 1]) {
      const text = await (await fetchFrom(gateway, '{ user(id: "1") { name secret } }')).text()
      expect([time, text]).toEqual([time, expect.stringContaining('"secret":null')])
      expect(text).toContain('UNAUTHENTICATED')
    }
  })

  it('the cost is limited', async () => {
    const { config, resolved } = configWith(create())
    const gateway = await openGateway({ ...config, cost: { max: 5 } })
    for (const time of [0, 1]) {
      const text = await (
        await fetchFrom(
          gateway,
          '{ a: user(id: "1") { id } b: user(id: "1") { id } c: user(id: "1") { id } d: user(id: "1") { id } e: user(id: "1") { id } f: user(id: "1") { id } }',
        )
      ).text()
      expect([time, text]).toEqual([time, expect.stringContaining('COST')])
    }
    expect(resolved).toEqual([])
  })

  it('answers are cached, and a mutation evicts them', async () => {
    const { config, resolved } = configWith(create())
    const { endpoint } = await startGateway({ ...config, responseCache: true })
    const ask = async () => {
      const response = await post(endpoint, { query: '{ user(id: "1") { id name } }' })
      return [response.headers.get('x-cache'), await response.json()]
    }
    const ada = { data: { user: { id: '1', name: 'Ada' } } }
    expect([await ask(), await ask(), await ask()]).toEqual([
      ['MISS', ada],
      ['HIT', ada],
      ['HIT', ada],
    ])
    await post(endpoint, { query: 'mutation { rename(id: "1", name: "Eve") { id } }' })
    expect(await ask()).toEqual(['MISS', { data: { user: { id: '1', name: 'Eve' } } }])
    expect(resolved).toHaveLength(2)
  })

  it('operations are counted', async () => {
    const { config } = configWith(create())
    const { endpoint, server } = await startGateway({ ...config, metrics: true })
    for (let time = 0; time < 3; time++)
      await post(endpoint, { query: 'query Named { user(id: "1") { id } }' })
    const text = await (await fetch(`${server.url}/metrics`)).text()
    expect(text).toMatch(/vinyasa_operations_total\{[^}]*\} 3/)
  })

  it('a deferred query comes whole', async () => {
    const { config } = configWith(create())
    const { endpoint } = await startGateway(config)
    const response = await post(
      endpoint,
      { query: '{ user(id: "1") { id ... @defer { name } } }' },
      { accept: 'multipart/mixed' },
    )
    expect(await response.text()).toContain('{"name":"Ada"}')
  })
})

it('an executor that looks at the other one stands around all, as it did', async () => {
  const seen: string[] = []
  const { config } = configWith({
    readsHeaders: [],
    onExecute({ executeFn, setExecuteFn }: any) {
      setExecuteFn(async (args: any) => {
        seen.push('around')
        return args.contextValue.isClosed ? { errors: [new GraphQLError('closed')] } : executeFn(args)
      })
    },
  })
  const { endpoint } = await startGateway({ ...config, responseCache: true })
  for (const cache of ['MISS', 'HIT', 'HIT']) {
    const response = await post(endpoint, { query: '{ user(id: "1") { id } }' })
    expect(response.headers.get('x-cache')).toBe(cache)
  }
  expect(seen).toHaveLength(3)
})
