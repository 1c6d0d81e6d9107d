import { makeExecutableSchema } from '@graphql-tools/schema'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { DeferPreset, DeferSplitterOptions } from '../../src/index.ts'
import { type DeferInternals, resolveOptions } from '../../src/options.ts'
import { createDeferSplitter } from '../../src/plugin.ts'

export const typeDefs: string = /* GraphQL */ `
  type Query {
    user: User
    users: [User]
    pets: [Pet]
    nobody: User
    strict: Strict
    slow(ms: Int): String
  }
  type Mutation {
    rename(name: String): User
  }
  type Subscription {
    ticks: Int
    events: User
  }
  type User {
    id: ID
    name: String
    bio: String
    broken: String
    friend: User
    friends: [User]
    strict: Strict
  }
  type Strict {
    ok: String
    never: String!
  }
  interface Pet {
    name: String
  }
  type Dog implements Pet {
    name: String
    barks: Boolean
  }
  type Cat implements Pet {
    name: String
    lives: Int
  }
`

type TestData = Record<string, unknown>

const ada: TestData = { id: '1', name: 'Ada', bio: 'first', friend: { id: '2', name: 'Bob', bio: 'second' } }
const bob: TestData = { id: '2', name: 'Bob', bio: 'second', friend: null }

export const resolvers: Record<string, Record<string, any>> = {
  Query: {
    user: () => ada,
    users: () => [ada, null, bob],
    pets: () => [
      { __typename: 'Dog', name: 'Rex', barks: true },
      { __typename: 'Cat', name: 'Tom', lives: 9 },
    ],
    nobody: () => null,
    strict: () => ({ ok: 'fine', never: null }),
  },
  Mutation: { rename: (_: unknown, { name }: { name: string }) => ({ ...ada, name }) },
  Subscription: {
    events: {
      subscribe: async function* () {
        yield { events: ada }
      },
    },
  },
  User: {
    broken: () => {
      throw new Error('the database password is hunter2')
    },
    friends: () => [bob],
    strict: () => ({ ok: 'fine', never: null }),
  },
}

export interface TestServer {
  readonly yoga: ReturnType<typeof createYoga>
  fetch(url: string, init?: RequestInit): Response | Promise<Response>
  /** Posts a query and returns the response. Accepts multipart beside JSON unless told otherwise. */
  post(query: string, init?: PostInit): Promise<Response>
  /** The body's text. */
  text(query: string, init?: PostInit): Promise<string>
  /** The JSON of each part. */
  parts(query: string, init?: PostInit): Promise<any[]>
}

export interface PostInit {
  readonly accept?: string
  readonly path?: string
  readonly variables?: Record<string, unknown>
  readonly signal?: AbortSignal
}

export interface ServerInit {
  readonly options?: DeferSplitterOptions | DeferPreset
  readonly internals?: Partial<DeferInternals>
  readonly before?: readonly Plugin[]
  readonly after?: readonly Plugin[]
  readonly schema?: Parameters<typeof createYoga>[0]['schema']
  readonly yoga?: Record<string, unknown>
}

export function createTestServer(init: ServerInit = {}): TestServer {
  const yoga = createYoga({
    schema: init.schema ?? makeExecutableSchema({ typeDefs, resolvers }),
    plugins: [
      ...(init.before ?? []),
      createDeferSplitter(resolveOptions(init.options, init.internals)),
      ...(init.after ?? []),
    ],
    logging: false,
    ...init.yoga,
  })
  const post = async (
    query: string,
    { accept = 'multipart/mixed, application/json', path = '/graphql', variables, signal }: PostInit = {},
  ) =>
    yoga.fetch(`http://test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query, variables }),
      ...(signal && { signal }),
    })
  const text = async (query: string, init?: PostInit) => (await post(query, init)).text()
  return {
    yoga,
    fetch: (url, init) => yoga.fetch(new Request(url, init)),
    post,
    text,
    parts: async (query, init) => partsOf(await text(query, init)),
  }
}

export function partsOf(body: string): any[] {
  return body
    .split(/\r\n---(?:--)?\r\n/)
    .filter(Boolean)
    .map((part) => JSON.parse(part.split('\r\n\r\n')[1] ?? ''))
}
