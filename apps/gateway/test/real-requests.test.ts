import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createNodeHandler, usePipeline } from '@vinyasa/node-handler'
import { useResponseCache } from '@vinyasa/response-cache'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { countShortRuns } from '../../../packages/node-handler/test/short-runs.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const HELLO = '{"query":"{ hello }"}'
const post = (
  headers: Record<string, string>,
  body: string | Uint8Array<ArrayBuffer> = HELLO,
): RequestInit => ({
  method: 'POST',
  headers: { ...JSON_TYPE, ...headers },
  body,
})

/** Returns the endpoint of a Yoga server with the given plugins, behind node-handler or Yoga's own listener. */
async function startYoga(plugins: readonly Plugin[], isOwn = false): Promise<string> {
  const { typeDefs, resolvers } = OWN_SCHEMA
  const schema = createSchema({ typeDefs: typeDefs as string, resolvers: resolvers as never })
  const yoga = createYoga({ logging: false, schema, plugins: [...plugins] })
  const server = createServer(isOwn ? yoga : createNodeHandler(yoga))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await yoga.dispose()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
}

const startOwn = async (config: GatewayConfig = {}): Promise<string> =>
  (await startGateway({ ...OWN_SCHEMA, ...config })).endpoint

const PIPELINE = { 'the pipeline alone': () => startYoga([usePipeline()]) }
const SERVERS: Readonly<Record<string, () => Promise<string>>> = {
  'a gateway': () => startOwn(),
  'a gateway with a cache': () => startOwn({ responseCache: true }),
  'a gateway in production': () => startOwn({ preset: 'production', responseCache: true }),
  'the cache on plain Yoga': () => startYoga([useResponseCache()]),
}

describe.each(Object.entries({ ...SERVERS, ...PIPELINE }))('%s', (_name, start) => {
  it.each([
    'Application/JSON',
    'APPLICATION/JSON; CHARSET=UTF-8',
    'application/json ; a=b',
    'application/json\t;charset=utf-8',
    'Application/GraphQL+JSON',
  ])('reads a body of the media type %j', async (type) => {
    const endpoint = await start()
    for (const _time of [1, 2]) {
      const response = await fetch(endpoint, post({ 'content-type': type }))
      expect([response.status, await response.text()]).toEqual([200, '{"data":{"hello":"world"}}'])
    }
  })

  it.each(['application/jsonx', 'application/ json', 'text/json'])(
    'refuses the media type %j',
    async (type) => {
      expect((await fetch(await start(), post({ 'content-type': type }))).status).toBe(415)
    },
  )

  it('takes an empty operationName for none', async () => {
    const endpoint = await start()
    const ask = async (query: string): Promise<[number, any]> => {
      const response = await fetch(endpoint, post({}, JSON.stringify({ query, operationName: '' })))
      return [response.status, await response.json()]
    }
    for (const _time of [1, 2]) {
      expect(await ask('query A { hello }')).toEqual([200, { data: { hello: 'world' } }])
      expect((await ask('query A { hello } query B { hello }'))[1].errors[0].message).toMatch(
        /what operation/,
      )
    }
  })
})

const YOGAS_OWN = { "the cache on Yoga's own listener": () => startYoga([useResponseCache()], true) }

describe.each(Object.entries({ ...SERVERS, ...YOGAS_OWN }))('GET responses of %s', (_name, start) => {
  const search = (params: Record<string, string>): string => `?${new URLSearchParams(params)}`
  const FAILING: Readonly<Record<string, string>> = {
    'an error of a resolver': search({ query: '{ fail hello }' }),
    'an invalid query': search({ query: '{ helo }' }),
    'a syntax error': search({ query: '{' }),
    'an unknown name': search({ query: 'query A { hello }', operationName: 'B' }),
    'a mutation': search({ query: 'mutation { change }' }),
    'variables that are no JSON': search({ query: '{ hello }', variables: '{' }),
    'variables that are a list': search({ query: '{ hello }', variables: '[]' }),
    'a document that is not known': search({
      extensions: '{"persistedQuery":{"version":1,"sha256Hash":"a"}}',
    }),
    'no query': search({ a: 'b' }),
  }

  it.each(Object.entries(FAILING))('forbid caches to keep %s', async (_case, target) => {
    const endpoint = await start()
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      for (const _time of [1, 2]) {
        const response = await fetch(`${endpoint}${target}`, { headers: { accept, 'x-graphql-csrf': '1' } })
        expect(await response.text()).toContain('"errors"')
        expect(response.headers.get('cache-control')).toMatch(/^(?:private, )?no-store$/)
      }
    }
  })

  it('leave a hit to caches', async () => {
    const endpoint = await start()
    const response = await fetch(`${endpoint}${search({ query: '{ hello }' })}`, {
      headers: { 'x-graphql-csrf': '1' },
    })
    const isCached = response.headers.get('x-cache') !== null
    expect(response.headers.get('cache-control')).toMatch(
      isCached ? /^(?:public|private), no-cache$/ : /^no-store$/,
    )
  })
})

describe('CSRF prevention', () => {
  const ask = async (endpoint: string, type?: string): Promise<number> =>
    (
      await fetch(`${endpoint}?query={hello}`, {
        headers: type === undefined ? {} : { 'content-type': type },
      })
    ).status

  it('lets a GET request pass by its Content-Type only if that is application/json', async () => {
    const endpoint = await startOwn({ preset: 'production' })
    for (const _time of [1, 2]) {
      for (const type of [
        undefined,
        'x',
        'text/html',
        'application/jsonx',
        'application/graphql',
        'text/plain',
      ])
        expect([type, await ask(endpoint, type)]).toEqual([type, 403])
      for (const type of ['application/json', 'Application/JSON', 'application/json ; charset=utf-8'])
        expect([type, await ask(endpoint, type)]).toEqual([type, 200])
    }
  })

  it('lets a POST request pass by every Content-Type that needs a preflight', async () => {
    const endpoint = await startOwn({ preset: 'production' })
    const status = async (type: string, body = '{ hello }'): Promise<number> =>
      (await fetch(endpoint, post({ 'content-type': type }, body))).status
    expect(await status('application/graphql')).toBe(200)
    expect(await status('application/graphql+json', HELLO)).toBe(200)
    for (const type of ['text/plain', 'Text/Plain;application/json', 'text/plain ; a', 'multipart/form-data'])
      expect([type, await status(type, HELLO)]).toEqual([type, 403])
  })
})

describe('a compressed body', () => {
  it.each(['gzip', 'GZIP', 'br', 'identity, gzip', 'x'])('of the encoding %s: 415', async (encoding) => {
    const endpoint = await startOwn()
    const response = await fetch(endpoint, post({ 'content-encoding': encoding }, gzipSync(HELLO)))
    expect([response.status, (await response.json()).errors[0].extensions.code]).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ])
  })

  it('named identity is none', async () => {
    expect((await fetch(await startOwn(), post({ 'content-encoding': 'Identity' }))).status).toBe(200)
  })
})

it('refuses HTTP requests at the path of sockets with 426', async () => {
  for (const path of ['/graphql', '/api']) {
    const { server } = await startGateway({ ...OWN_SCHEMA, graphql: { path } })
    const endpoint = `${server.url}${path}`
    for (const init of [{}, { method: 'POST', body: HELLO, headers: JSON_TYPE }]) {
      const response = await fetch(`${endpoint}/live?a=b`, init)
      expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket'])
      expect(await response.text()).toMatch(/WebSocket.+graphql-transport-ws/)
    }
    const socket = await connectRawWebSocket(`${endpoint.replace('http', 'ws')}/live`)
    socket.sendJson({ type: 'connection_init' })
    expect(await socket.nextJson()).toMatchObject({ type: 'connection_ack' })
    socket.sendJson({
      type: 'subscribe',
      id: '1',
      payload: { query: 'query A { hello }', operationName: '' },
    })
    expect(await socket.nextJson()).toMatchObject({ payload: { data: { hello: 'world' } } })
    socket.terminate()
  }
})

describe('the prepared path', () => {
  const APOLLO = { clientLibrary: { name: '@apollo/client', version: '4.0.0' } }
  const search = (params: Record<string, string>): string => `?${new URLSearchParams(params)}`
  const body = (more: object): string => JSON.stringify({ query: '{ hello }', ...more })
  const REQUESTS: Readonly<Record<string, readonly [target: string, init: RequestInit]>> = {
    'a POST request': ['', post({})],
    'extensions of a client': ['', post({}, body({ extensions: APOLLO }))],
    'empty extensions': ['', post({}, body({ extensions: {} }))],
    'a query string': ['?op=Hello', post({})],
    'a listed origin': ['', post({ origin: 'https://a.test' })],
    'another origin': ['', post({ origin: 'https://b.test' })],
    'another form of the media type': ['', post({ 'content-type': 'Application/JSON ; Charset=UTF-8' })],
    'all of them': ['?op=Hello', post({ origin: 'https://a.test' }, body({ extensions: APOLLO }))],
    'a GET request': [search({ query: '{ hello }' }), { headers: JSON_TYPE }],
    'a GET request with extensions': [
      search({ query: '{ hello }', extensions: JSON.stringify(APOLLO) }),
      { headers: JSON_TYPE },
    ],
    'a conditional GET request': [
      search({ query: '{ hello }' }),
      { headers: { ...JSON_TYPE, 'if-none-match': '"other"' } },
    ],
    'a conditional GET request of an origin': [
      search({ query: '{ hello }' }),
      { headers: { ...JSON_TYPE, 'if-none-match': '*', origin: 'https://a.test' } },
    ],
  }

  /** Returns the endpoint, and the operations that were served without all hooks. */
  async function startCounting(isGateway: boolean): Promise<{ endpoint: string; served: unknown[] }> {
    const { plugin: counter, calls: served } = countShortRuns()
    const endpoint = isGateway
      ? await startOwn({
          responseCache: true,
          graphql: { cors: ['https://a.test'] },
          plugins: [counter as never],
        })
      : await startYoga([useResponseCache(), counter as never])
    return { endpoint, served }
  }

  describe.each([
    ['a gateway', true],
    ['the cache on plain Yoga', false],
  ])('of %s', (_name, isGateway) => {
    it.each(Object.entries(REQUESTS))('serves a cached hit for %s', async (_case, [target, init]) => {
      const { endpoint, served } = await startCounting(isGateway)
      for (const time of [1, 2, 3]) {
        const response = await fetch(`${endpoint}${target}`, init)
        const text = await response.text()
        expect(text).toBe(response.status === 304 ? '' : '{"data":{"hello":"world"}}')
        expect([served.length, response.headers.get('x-cache')]).toEqual([
          time - 1,
          time > 1 ? 'HIT' : 'MISS',
        ])
      }
    })

    it("answers a client's copy with 304, whatever else is in the request", async () => {
      const { endpoint, served } = await startCounting(isGateway)
      const url = `${endpoint}${search({ query: '{ hello }' })}`
      await fetch(url, { headers: JSON_TYPE })
      const whole = await fetch(url, { headers: JSON_TYPE })
      const etag = whole.headers.get('etag') ?? ''
      const origins: Record<string, string>[] = [
        {},
        { origin: 'https://a.test' },
        { origin: 'https://b.test' },
      ]
      for (const own of origins) {
        for (const tag of [etag, `"other", W/${etag}`, '*']) {
          const response = await fetch(url, { headers: { ...JSON_TYPE, ...own, 'if-none-match': tag } })
          expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([
            304,
            etag,
            '',
          ])
          expect(response.headers.get('content-type')).toBeNull()
          expect(response.headers.get('cache-control')).toBe(whole.headers.get('cache-control'))
          const isAllowed = 'origin' in own && (!isGateway || own.origin === 'https://a.test')
          expect(response.headers.has('access-control-allow-origin')).toBe(isAllowed)
        }
      }
      expect(served.length).toBe(10)
    })

    it('gives each request extensions of its own', async () => {
      const { endpoint, served } = await startCounting(isGateway)
      for (const _time of [1, 2, 3, 4])
        await (await fetch(endpoint, post({}, body({ extensions: APOLLO })))).text()
      const given = served.map((operation) => Object(operation).context.params.extensions)
      expect(given).toEqual([APOLLO, APOLLO, APOLLO])
      expect(new Set(given.map(({ clientLibrary }) => clientLibrary)).size).toBe(3)
    })
  })
})
