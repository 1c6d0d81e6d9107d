import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient, fetchExchange, gql as urqlGql } from '@urql/core'
import { stripIgnoredCharacters } from 'graphql'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { CAPTURED_QUERY, type CapturedRequest, capturedRequests, messageOf } from './captured-requests.ts'
import { type CreateLibrary, libraries } from './libraries.ts'
import { startWorld } from './world.ts'

const WITH_GET: Readonly<Record<string, CreateLibrary>> = {
  'Apollo Client 4, GET': (uri) => {
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new HttpLink({ uri, useGETForQueries: true }),
    })
    return { ask: (document) => client.query({ query: gql(document) }), close: () => client.stop() }
  },
  'urql, GET': (url) => {
    const headers = { 'x-graphql-csrf': '1' }
    const client = new UrqlClient({ url, exchanges: [fetchExchange], fetchOptions: { headers } })
    return { ask: (document) => client.query(urqlGql(document), {}).toPromise(), close() {} }
  },
}

/** Headers that depend on the connection or on the version of Node. */
const OF_CONNECTION = new Set(['host', 'connection', 'content-length', 'accept-encoding'])

/** Sends the query with a library, and returns the request that arrives. */
async function capture(
  create: CreateLibrary,
): Promise<Pick<CapturedRequest, 'method' | 'headers' | 'params'>> {
  let arrived: IncomingMessage | undefined
  let body = ''
  const server = createServer((request, response) => {
    arrived = request
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"data":{"user":{"__typename":"User","id":"1","name":"Ada"}}}'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
  const library = create(url, url.replace('http', 'ws'))
  await library.ask?.(CAPTURED_QUERY)
  await library.close()
  const { method, headers, url: target = '' } = arrived!
  const search = Object.fromEntries(new URL(target, url).searchParams)
  for (const name of ['variables', 'extensions'])
    if (search[name] !== undefined) search[name] = JSON.parse(search[name])
  const params = method === 'GET' ? search : JSON.parse(body)
  return {
    method: method as 'GET' | 'POST',
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name)),
    ) as Record<string, string>,
    params: { ...params, query: stripIgnoredCharacters(params.query).replace(' __typename', '') },
  }
}

const fromLibraries = capturedRequests.filter(({ library }) => library !== undefined)

it.each(fromLibraries)(
  '$client sends the captured request',
  async ({ library = '', method, headers, params }) => {
    const create = { ...libraries, ...WITH_GET }[library] as CreateLibrary
    const sent = await capture(create)
    expect(sent).toEqual({
      method,
      headers,
      params: { ...params, query: stripIgnoredCharacters(params.query) },
    })
    expect(Object.keys(sent.params)).toEqual(Object.keys(params))
  },
)

describe('a gateway answers each captured request like a plain request', async () => {
  const world = await startWorld({ graphql: { cors: ['https://shop.example'] } })
  afterAll(() => world[Symbol.asyncDispose]())

  it.each(capturedRequests)('$client', async (captured) => {
    const { method, headers } = captured
    const { path, body } = messageOf(captured, world.url)
    // The second request finds a cached document, and the third one a cached response.
    for (const _time of [1, 2, 3]) {
      const response = await fetch(path, { method, headers, ...(method === 'POST' && { body }) })
      expect(response.headers.get('access-control-allow-origin')).toBe(headers['origin'] ?? null)
      expect([response.status, await response.json()]).toEqual([
        200,
        { data: { user: { id: '1', name: 'Ada' } } },
      ])
    }
  })
})
