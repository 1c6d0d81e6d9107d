import { onTestFinished } from 'vitest'
import type { Plugin } from 'graphql-yoga'
import type { GatewayConfig } from '../../../apps/gateway/src/config/types.ts'
import { startGateway } from '../../../apps/gateway/test/support/gateway.ts'

export interface Answer {
  readonly status: number
  /** Of `x-cache`. */
  readonly cache: string | null
  readonly headers: Headers
  readonly text: string
  readonly data: any
  /** Messages of the errors. */
  readonly errors: readonly string[]
  readonly extensions: any
}

export interface AskInit {
  readonly variables?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A gateway with one plugin, or several that belong together. */
export interface World {
  readonly origin: string
  readonly isCached: boolean
  ask(query: string, init?: AskInit): Promise<Answer>
  /** What was resolved, field by field. */
  readonly calls: string[]
}

/** A plugin of the ecosystem, as people put it into `plugins`. */
export interface Row {
  readonly name: string
  /** What it promises. */
  readonly promise: string
  plugins(): readonly object[] | Promise<readonly object[]>
  /** Default: none. */
  readonly readsHeaders?: readonly string[]
  readonly config?: Partial<GatewayConfig>
  holds(world: World): Promise<void>
}

const USERS = [
  { id: '1', name: 'Ada', secret: 'of Ada' },
  { id: '2', name: 'Grace', secret: 'of Grace' },
]

const TYPE_DEFS = /* GraphQL */ `
  type User {
    id: ID!
    name: String
    secret: String
    friend: User
  }
  type Query {
    user(id: ID!): User
    users(first: Int): [User!]
    me: String
    fail: String
    hidden: String
  }
  type Mutation {
    rename(id: ID!, name: String!): User
  }
  type Subscription {
    count: Int
  }
`

export async function startWorld(row: Row, isCached: boolean): Promise<World> {
  const calls: string[] = []
  const users = USERS.map((user) => ({ ...user }))
  const find = (id: string) => users.find((user) => user.id === id)
  const given = await row.plugins()
  const plugins = given.map((plugin) => Object.assign({ readsHeaders: row.readsHeaders ?? [] }, plugin))
  const { endpoint } = await startGateway({
    typeDefs: TYPE_DEFS,
    resolvers: {
      Query: {
        user: (_: unknown, { id }: { id: string }) => (calls.push('user'), find(id)),
        users: () => (calls.push('users'), users),
        me: (_: unknown, __: unknown, context: any) => (calls.push('me'), String(context.who ?? 'nobody')),
        fail: () => {
          calls.push('fail')
          throw new Error('inside')
        },
        hidden: () => 'hidden',
      },
      User: { friend: ({ id }: { id: string }) => (calls.push('friend'), find(id === '1' ? '2' : '1')) },
      Mutation: {
        rename: (_: unknown, { id, name }: { id: string; name: string }) =>
          Object.assign(find(id) ?? {}, { name }),
      },
      Subscription: {
        count: {
          async *subscribe() {
            yield { count: 1 }
            yield { count: 2 }
          },
        },
      },
    },
    dependencies: {
      'Query.user': { variesBy: [] },
      'Query.users': { variesBy: [] },
      'Query.me': { variesBy: [] },
      'Query.fail': { variesBy: [] },
      'Query.hidden': { variesBy: [] },
      'User.friend': { variesBy: [] },
      'User.id': { variesBy: [] },
      'User.name': { variesBy: [] },
    },
    responseCache: isCached,
    graphql: { introspection: true },
    plugins: plugins as Plugin[],
    ...row.config,
  })
  return {
    origin: new URL(endpoint).origin,
    isCached,
    calls,
    ask: (query, init) => ask(endpoint, query, init),
  }
}

async function ask(endpoint: string, query: string, { variables, headers }: AskInit = {}): Promise<Answer> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  const text = await response.text()
  const body: any = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {}
  return {
    status: response.status,
    cache: response.headers.get('x-cache'),
    headers: response.headers,
    text,
    data: body.data,
    errors: (body.errors ?? []).map(({ message }: { message: string }) => message),
    extensions: body.extensions,
  }
}

/** Restores what a row has changed of the process when the test ends. */
export function atEnd(end: () => unknown): void {
  onTestFinished(() => void end())
}
