import { createHash } from 'node:crypto'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { Client as UrqlClient, fetchExchange } from '@urql/core'
import { persistedExchange } from '@urql/exchange-persisted'
import {
  ApolloClient as ApolloClient3,
  gql as gql3,
  HttpLink as HttpLink3,
  InMemoryCache as InMemoryCache3,
} from 'apollo-client-3/core'
import { createPersistedQueryLink } from 'apollo-client-3/link/persisted-queries'
import { describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { startWorld } from './world.ts'

const QUERIES = [
  'query A { user(id: "1") { __typename id name } }',
  'query B { user(id: "1") { __typename id } }',
]
const ANSWERS = [
  { user: { __typename: 'User', id: '1', name: 'Ada' } },
  { user: { __typename: 'User', id: '1' } },
]

interface Sent {
  readonly method: string
  readonly hasQuery: boolean
  readonly hasHash: boolean
  readonly status: number
}

type Ask = (query: string) => Promise<unknown>
type CreateClient = (url: string, options: { fetch: typeof fetch; headers: Record<string, string> }) => Ask

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function apollo4(useGETForHashedQueries: boolean): CreateClient {
  return (uri, options) => {
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(
        new HttpLink({ uri, ...options }),
      ),
    })
    return async (query) => (await client.query({ query: gql(query), fetchPolicy: 'network-only' })).data
  }
}

function apollo3(useGETForHashedQueries: boolean): CreateClient {
  return (uri, options) => {
    const client = new ApolloClient3({
      cache: new InMemoryCache3(),
      link: createPersistedQueryLink({ sha256, useGETForHashedQueries }).concat(
        new HttpLink3({ uri, ...options }),
      ),
    })
    return async (query) => (await client.query({ query: gql3(query), fetchPolicy: 'network-only' })).data
  }
}

function urql(preferGetForPersistedQueries: boolean): CreateClient {
  return (url, { fetch, headers }) => {
    const client = new UrqlClient({
      url,
      fetch,
      fetchOptions: { headers },
      preferGetMethod: false,
      exchanges: [persistedExchange({ preferGetForPersistedQueries }), fetchExchange],
    })
    return async (query) => {
      const { data, error } = await client.query(query, {}).toPromise()
      if (error) throw error
      return data
    }
  }
}

const clients: Readonly<Record<string, CreateClient>> = {
  'Apollo Client 4, POST': apollo4(false),
  'Apollo Client 4, GET': apollo4(true),
  'Apollo Client 3, POST': apollo3(false),
  'Apollo Client 3, GET': apollo3(true),
  'urql, POST': urql(false),
  'urql, GET': urql(true),
}

/** What goes over the wire, as the server sees it. */
function listening(sent: Sent[]): typeof fetch {
  return async (input, init) => {
    const { method = 'GET', body } = init ?? {}
    const asked =
      typeof body === 'string' ? JSON.parse(body) : Object.fromEntries(new URL(String(input)).searchParams)
    const response = await fetch(input, init)
    sent.push({
      method,
      hasQuery: Boolean(asked.query),
      hasHash: JSON.stringify(asked.extensions ?? '').includes('sha256Hash'),
      status: response.status,
    })
    return response
  }
}

async function play(create: CreateClient, config: GatewayConfig, headers: Record<string, string> = {}) {
  await using world = await startWorld(config)
  const sent: Sent[] = []
  const ask = create(world.url, { fetch: listening(sent), headers })
  const answers: unknown[] = []
  for (const query of QUERIES) answers.push(await ask(query))
  return { answers, sent }
}

describe.each(Object.entries(clients))('%s', (_, create) => {
  it('asks in full where no queries are remembered, after one try', async () => {
    const { answers, sent } = await play(create, {})
    expect(answers).toEqual(ANSWERS)
    expect(sent.map(({ hasQuery, hasHash }) => [hasQuery, hasHash])).toEqual([
      [false, true],
      [true, false],
      [true, false],
    ])
  })

  it('does so with the production preset, with the header that the README names', async () => {
    const { answers, sent } = await play(
      create,
      { preset: 'production' },
      { 'apollo-require-preflight': 'true' },
    )
    expect(answers).toEqual(ANSWERS)
    expect(sent).toHaveLength(3)
  })
})

describe('urql as it comes, which sends queries with GET', () => {
  async function ask(headers: Record<string, string>) {
    await using world = await startWorld({ preset: 'production' })
    const sent: Sent[] = []
    const client = new UrqlClient({
      url: world.url,
      fetch: listening(sent),
      fetchOptions: { headers },
      exchanges: [fetchExchange],
    })
    const { data, error } = await client.query(QUERIES[0] ?? '', {}).toPromise()
    return { data, message: error?.message, method: sent[0]?.method, status: sent[0]?.status }
  }

  it.each(['apollo-require-preflight', 'x-graphql-yoga-csrf'])(
    'are answered by the production preset with %s',
    async (header) => {
      expect(await ask({ [header]: '1' })).toEqual({
        data: ANSWERS[0],
        message: undefined,
        method: 'GET',
        status: 200,
      })
    },
  )

  it('are refused without, with the name of a header', async () => {
    const { data, message, status } = await ask({})
    expect([data, status]).toEqual([undefined, 403])
    expect(message).toContain('apollo-require-preflight')
  })
})
