import { createDisposables, startRestBackend, type RestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga } from 'graphql-yoga'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createRestConnector,
  type RequestInterceptor,
  type RestConnectorOptions,
  useRestConnector,
} from '../src/index.ts'

const cleanup = createDisposables(afterAll)
let backend: RestBackend

beforeAll(async () => {
  // As frank as a backend can be: it repeats all that it was sent, as it came and decoded.
  backend = cleanup.use(
    await startRestBackend(({ rawUrl, url, headers }) => {
      const basic = /^Basic (.*)$/.exec(headers.authorization ?? '')?.[1] ?? ''
      return {
        status: 500,
        json: {
          rawUrl,
          query: [...url.searchParams.values()],
          headers,
          words: Object.values(headers).flatMap((value) => String(value).split(' ')),
          basic: Buffer.from(basic, 'base64').toString('utf8'),
        },
      }
    }),
  )
})

/** What a name of a parameter or header may be: nothing in it says that it holds a secret. */
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/).map((text) => `q-${text}`)
const secret = fc
  .tuple(fc.stringMatching(/^[A-Za-z0-9]{8,20}$/), fc.stringMatching(/^[ -~]{0,8}$/))
  .map(([first, second]) => `s3cr3t${first}${second.trim()}`)

/** Ways by which something gets onto a request that the client did not put there. */
const places: Readonly<Record<string, (name: string, value: string) => Partial<RestConnectorOptions>>> = {
  'a header of the config': (key, value) => ({ defaultHeaders: { [key]: value.replaceAll(/[{}]/g, '') } }),
  'a forwarded header': (key) => ({ forwardHeaders: [key] }),
  'a header of an interceptor': (key, value) => intercept(({ headers }) => headers.set(key, value)),
  'a bearer token': (_, value) =>
    intercept(({ headers }) => headers.set('authorization', `Bearer ${value.replaceAll(' ', '')}`)),
  'Basic credentials': (key, value) =>
    intercept(({ headers }) =>
      headers.set('authorization', `Basic ${Buffer.from(`${key}:${value}`).toString('base64')}`),
    ),
  'a query parameter': (key, value) => intercept(({ url }) => url.searchParams.append(key, value)),
  'a query parameter by hand': (key, value) =>
    intercept(({ url }) => void (url.search += `&${key}=${encodeURIComponent(value)}`)),
  'a cookie': (key, value) =>
    intercept(({ headers }) => headers.set('cookie', `a=b; ${key}=${encodeURIComponent(value)}`)),
  'a segment of the path': (_, value) =>
    intercept(({ url }) => void (url.pathname += `/${encodeURIComponent(value)}`)),
}
const intercept = (interceptor: RequestInterceptor): Partial<RestConnectorOptions> => ({
  interceptors: [interceptor],
})

it('nothing that a client did not send is told to it, whatever its name and place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(places)), name, secret, async (place, key, value) => {
      await using connector = createRestConnector('c', {
        baseUrl: `${backend.url}/base`,
        noRetry: true,
        exposeErrors: true,
        endpoints: [
          { name: 'get', path: '/get/{id}', args: { id: 'ID!' }, queryParams: { version: 'v1', id: '{id}' } },
        ],
        ...places[place]!(key, value),
      })
      const before = backend.requests.length
      const context = { request: { headers: { [key]: value } } }
      const error = await connector.execute('get', { id: 'a-client' }, { context }).catch(String)
      const told = JSON.stringify(
        await connector.execute('get', { id: 'a-client' }, { context }).catch((reason: unknown) => reason),
      )
      expect(error).toContain('responded with status 500')
      const { upstream } = JSON.parse(told).extensions
      expect(upstream).toMatchObject({ method: 'GET', url: `${backend.url}/base/get/{id}` })
      // It went out, and what the client itself gave is told.
      expect(JSON.stringify(backend.requests[before]!.headers) + backend.requests[before]!.rawUrl).toMatch(
        /s3cr3t|Basic|czNj/,
      )
      expect(upstream.body).toContain('a-client')
      expect(told).not.toContain('s3cr3t')
      expect(decodeURIComponent(told.replaceAll('%', '%25'))).not.toContain(value.slice(0, 10))
    }),
    { numRuns: 150 },
  )
})

it.each<[string, string, object]>([
  ['in the query', 'mutation { find(filter: { name: "s3arched", tags: [{ text: "t4gged" }] }) }', {}],
  [
    'as a variable',
    'mutation ($filter: FilterInput) { find(filter: $filter) }',
    { filter: { name: 's3arched', tags: [{ text: 't4gged' }] } },
  ],
])('what a client sent within an input object is told to it, written %s', async (_, query, variables) => {
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      noRetry: true,
      exposeErrors: true,
      types: {
        FilterInput: { kind: 'input', fields: { name: { type: 'String' }, tags: { type: '[TagInput!]' } } },
        TagInput: { kind: 'input', fields: { text: { type: 'String' } } },
      },
      interceptors: [
        ({ url }) => {
          for (const value of ['s3arched', 't4gged', 's3cr3t']) url.searchParams.append('q', value)
        },
      ],
      endpoints: [
        {
          name: 'find',
          path: '/find',
          method: 'POST',
          args: { filter: 'FilterInput' },
          bodyTemplate: '{filter}',
          returnType: 'String',
        },
      ],
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  })
  const { errors } = await response.json()
  expect(errors[0].message).toBe('REST endpoint "find" responded with status 500.')
  expect(errors[0].extensions.upstream.body).toContain('"query":["s3arched","t4gged","[redacted]"]')
})

it('a secret that the end of the excerpt cuts is not told in part', async () => {
  await using connector = createRestConnector('c', {
    baseUrl: backend.url,
    noRetry: true,
    exposeErrors: true,
    endpoints: [{ name: 'get', path: '/get' }],
    defaultHeaders: { 'q-x': 's3cr3t-of-the-connector' },
  })
  for (let cut = 1; cut < 24; cut++) {
    backend.answerNext({ status: 500, body: `${'x'.repeat(4_096 - cut)}s3cr3t-of-the-connector` })
    const error = await connector.execute('get').catch((reason: unknown) => reason)
    const { body } = JSON.parse(JSON.stringify(error)).extensions.upstream
    expect(body).toMatch(cut < 4 ? /^x+.{0,3}$/ : /^x+\[redacted\]$/)
  }
})
