import { createHash } from 'node:crypto'
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { Client as UrqlClient, fetchExchange, gql as urqlGql } from '@urql/core'
import { persistedExchange } from '@urql/exchange-persisted'
import {
  ApolloClient as ApolloClient3,
  gql as gql3,
  HttpLink as HttpLink3,
  InMemoryCache as InMemoryCache3,
} from 'apollo-client-3/core'
import { createPersistedQueryLink } from 'apollo-client-3/link/persisted-queries'
import { describe, expect, it } from 'vitest'
import { startGateway } from '../../apps/gateway/test/support/gateway.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const QUERY = 'query Hello { hello }'

type Ask = (query: string) => Promise<unknown>
type Fetch = typeof fetch

const CLIENTS: Readonly<Record<string, (uri: string, fetch: Fetch, useGet: boolean) => Ask>> = {
  'Apollo 4': (uri, fetch, useGet) => {
    const link = ApolloLink.from([
      new PersistedQueryLink({ sha256, useGETForHashedQueries: useGet }),
      new HttpLink({ uri, fetch }),
    ])
    const client = new ApolloClient({ link, cache: new InMemoryCache() })
    return async (query) => (await client.query({ query: gql(query), fetchPolicy: 'no-cache' })).data
  },
  'Apollo 3': (uri, fetch, useGet) => {
    const link = createPersistedQueryLink({ sha256, useGETForHashedQueries: useGet }).concat(
      new HttpLink3({ uri, fetch }),
    )
    const client = new ApolloClient3({ link, cache: new InMemoryCache3() })
    return async (query) => (await client.query({ query: gql3(query), fetchPolicy: 'no-cache' })).data
  },
  urql: (url, fetch, useGet) => {
    const client = new UrqlClient({
      url,
      fetch,
      preferGetMethod: false,
      exchanges: [
        persistedExchange({
          preferGetForPersistedQueries: useGet,
          generateHash: async (text) => sha256(text),
        }),
        fetchExchange,
      ],
    })
    return async (query) => (await client.query(urqlGql(query), {}).toPromise()).data
  },
}

async function start(preset: 'development' | 'production'): Promise<string> {
  const { endpoint } = await startGateway({
    preset,
    apq: true,
    typeDefs: 'type Query { hello: Int }',
    resolvers: { Query: { hello: () => 1 } },
  })
  return endpoint
}

describe.each(Object.keys(CLIENTS))('automatic persisted queries of %s', (name) => {
  it.each(['POST', 'GET'])('say a hash by %s, the text once, and a hash from then on', async (method) => {
    for (const preset of ['development', 'production'] as const) {
      const sent: string[] = []
      const watched: Fetch = async (url, init) => {
        const asked = decodeURIComponent(`${String(url)} ${String(init?.body ?? '')}`)
        // The operation is called Hello.
        sent.push(`${init?.method ?? 'GET'} ${/\bhello\b/.test(asked) ? 'text' : 'hash'}`)
        // What the CSRF prevention of the preset asks of a browser's requests.
        return fetch(url, { ...init, headers: { ...init?.headers, 'graphql-preflight': '1' } })
      }
      const ask = CLIENTS[name]?.(await start(preset), watched, method === 'GET')
      const answers = [await ask?.(QUERY), await ask?.(QUERY)]
      expect(answers).toEqual([{ hello: 1 }, { hello: 1 }])
      // By which method the text is sent is the client's business.
      expect(sent.map((one) => one.replace(/\w+ text/, 'text'))).toEqual([
        `${method} hash`,
        'text',
        `${method} hash`,
      ])
    }
  })
})
