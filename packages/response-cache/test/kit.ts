import { isAsyncIterable } from '@vinyasa/core'
import { createSchema, createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga'
import {
  createResponseCache,
  useResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
} from '../src/index.ts'

export const typeDefs = /* GraphQL */ `
  type User {
    id: ID!
    name: String!
    posts: [Post!]!
  }
  type Post {
    id: ID!
    title: String!
    author: User!
  }
  type Product {
    id: ID!
    name: String!
  }
  union Thing = User | Product
  type Query {
    users: [User!]!
    user(id: ID!): User
    me: User
    products(limit: Int, filter: String): [Product!]!
    things: [Thing!]!
    count: Int!
    broken: User
    echo(text: String, list: [Int]): String
  }
  type Mutation {
    renameUser(id: ID!, name: String!): User
    createUser(name: String!): User
    renameProduct(id: ID!, name: String!): Product
    deleteUser(id: ID!): Boolean!
    fail: User
  }
  type Subscription {
    tick: Int!
  }
`

export interface World {
  readonly yoga: YogaServerInstance<object, object>
  readonly cache: ResponseCache
  /** How often each root field was resolved. */
  readonly calls: Record<string, number>
  readonly users: Map<string, { id: string; name: string }>
  /** Set to hold back `users` before and after it reads, and `renameUser` after it committed. */
  gate: {
    readonly before?: Promise<unknown>
    readonly after?: Promise<unknown>
    readonly committed?: Promise<unknown>
  }
}

export interface WorldOptions {
  readonly before?: readonly Plugin[]
  readonly after?: readonly Plugin[]
  readonly cache?: ResponseCacheOptions
  readonly typeDefs?: string
  readonly context?: (initial: any) => object
  readonly batching?: boolean | { readonly limit: number }
}

/** A Yoga server with the cache over users and products, and a count of what was executed. */
export function createWorld(options: WorldOptions = {}): World {
  const calls: Record<string, number> = {}
  const users = new Map([
    ['1', { id: '1', name: 'Ada' }],
    ['2', { id: '2', name: 'Bob' }],
  ])
  const products = new Map([['1', { id: '1', name: 'Lamp' }]])
  const cache = createResponseCache(options.cache)
  const counted = (name: string) => (calls[name] = (calls[name] ?? 0) + 1)
  const world: World = {
    cache,
    calls,
    users,
    gate: {},
    yoga: createYoga({
      logging: false,
      batching: options.batching ?? true,
      ...(options.context ? { context: options.context } : {}),
      plugins: [...(options.before ?? []), useResponseCache(cache), ...(options.after ?? [])],
      schema: createSchema({
        typeDefs: options.typeDefs ?? typeDefs,
        resolvers: {
          Query: {
            async users() {
              counted('users')
              await world.gate.before
              const read = [...users.values()].map((user) => ({ ...user }))
              await world.gate.after
              return read
            },
            user: (_root, { id }) => (counted('user'), users.get(id)),
            me(_root, _args, context) {
              counted('me')
              return { id: 'me', name: context.request.headers.get('authorization') ?? 'nobody' }
            },
            products: () => (counted('products'), [...products.values()]),
            things: () => [...users.values(), ...products.values()],
            count: () => counted('count'),
            broken() {
              counted('broken')
              throw new Error('no')
            },
            echo: (_root, { text }) => (counted('echo'), text),
          },
          Mutation: {
            async renameUser(_root, { id, name }) {
              counted('renameUser')
              const user = { id, name }
              users.set(id, user)
              await world.gate.committed
              return user
            },
            createUser(_root, { name }) {
              const user = { id: String(users.size + 1), name }
              users.set(user.id, user)
              return user
            },
            renameProduct(_root, { id, name }) {
              const product = { id, name }
              products.set(id, product)
              return product
            },
            deleteUser: (_root, { id }) => users.delete(id),
            fail() {
              users.set('1', { id: '1', name: 'half done' })
              throw new Error('after commit')
            },
          },
          Subscription: {
            tick: {
              async *subscribe() {
                yield { tick: counted('tick') }
              },
            },
          },
          User: { posts: (user) => [{ id: '9', title: 'Hi', author: user }] },
          Thing: {
            __resolveType: (thing: { id: string; name: string }) =>
              thing.name === 'Lamp' ? 'Product' : 'User',
          },
        },
      }),
    }),
  }
  return world
}

/** Adds extensions to what is executed, part by part where it is delivered in parts. */
export function useExtensions(extensions: object): Plugin {
  const extended = (result: unknown): never => ({ ...(result as object), extensions }) as never
  return {
    onExecute: () => ({
      onExecuteDone({ result, setResult }) {
        if (!isAsyncIterable(result)) return setResult(extended(result))
        return { onNext: (part) => part.setResult(extended(part.result)) }
      },
    }),
  }
}

export interface Ask {
  readonly headers?: Record<string, string>
  readonly variables?: object
  readonly operationName?: string
  readonly method?: 'GET' | 'POST'
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly json: any
  readonly headers: Headers
  readonly cache: string | null
}

/** Sends one operation and reads the whole answer. */
export async function ask(
  { yoga }: Pick<World, 'yoga'>,
  query: string,
  { headers = {}, variables, operationName, method = 'POST', signal }: Ask = {},
): Promise<Answer> {
  const url = new URL('http://localhost/graphql')
  if (method === 'GET') {
    url.searchParams.set('query', query)
    if (variables) url.searchParams.set('variables', JSON.stringify(variables))
  }
  const response = await yoga.fetch(url, {
    method,
    ...(signal ? { signal } : {}),
    headers: method === 'GET' ? headers : { 'content-type': 'application/json', ...headers },
    ...(method === 'POST' ? { body: JSON.stringify({ query, variables, operationName }) } : {}),
  })
  const text = await response.text()
  return {
    status: response.status,
    text,
    json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined,
    headers: response.headers,
    cache: response.headers.get('x-cache'),
  }
}
