import { systemClock } from '@vinyasa/core'
import { startRestBackend, temporaryFolder, waitUntil } from '@vinyasa/test-kit'
import { createHash, createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'graphql-yoga'
import pino from 'pino'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { countShortRuns } from '../../../packages/node-handler/test/short-runs.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const registered = join(await temporaryFolder('documents', afterAll), 'documents.json')
writeFileSync(registered, JSON.stringify({ one: '{ hello }' }))

/** Steps that are wrapped are not left out, so that every request goes through all hooks. */
const CLOSES = {
  instrumentation: { execute: (_payload: unknown, run: () => unknown) => run() },
  readsHeaders: [],
} as never

const everything: GatewayConfig = {
  responseCache: true,
  liveQuery: {},
  metrics: true,
  tracing: true,
  status: true,
  invalidate: { secret: 'a secret of at least sixteen characters' },
}

async function startupLog(config: GatewayConfig): Promise<string> {
  let written = ''
  const logger = pino({ level: 'info' }, { write: (line: string) => (written += line) })
  await startGateway({ ...OWN_SCHEMA, ...config }, { logger })
  return written
}

describe('known queries', () => {
  it.each(['development', 'production'] as const)(
    'take the prepared path with every plugin on (%s)',
    async (preset) => {
      expect(await startupLog({ ...everything, preset })).not.toContain('run all plugin hooks')
    },
  )

  it('take it with origins that pages may call from', async () => {
    expect(await startupLog({ graphql: { cors: ['https://a.test'] } })).not.toContain('run all plugin hooks')
  })

  it('take it with rate limits, documents by id, automatic persisted queries and plugins of the config', async () => {
    const rules = [{ max: 100, windowSeconds: 60 }]
    const log = await startupLog({
      apq: true,
      rateLimit: { rules },
      plugins: [{ onParams() {}, onExecute() {}, readsHeaders: [] }],
    })
    expect(log).not.toContain('run all plugin hooks')
  })

  it('do not where a plugin of the config instruments steps', async () => {
    expect(await startupLog({ plugins: [CLOSES] })).toContain(
      'Repeated operations cannot use the path for cached operations and need more CPU time: a plugin uses instrumentation.execute',
    )
  })
})

it.each([
  'a query',
  'a GET',
  'a chunked body',
  'the path of deferred results',
  'a registered document',
  'a GET of a registered document',
])('%s takes the prepared path from the second time on', async (name) => {
  const { plugin, calls } = countShortRuns()
  const { endpoint } = await startGateway({
    ...OWN_SCHEMA,
    persistedDocuments: { from: registered },
    plugins: [plugin],
  })
  for (const time of [1, 2, 3]) {
    await (await send(endpoint, requests[name] as Asked)).arrayBuffer()
    expect({ time, taken: calls.length }).toEqual({ time, taken: time - 1 })
  }
})

describe('hooks that change the variables of a body that came before', () => {
  interface Seen {
    readonly params?: { readonly variables: Record<string, unknown> }
    readonly context?: Seen
    readonly args?: { readonly variableValues: Record<string, unknown> }
  }

  it.each([
    ['onParams', ({ params }: Seen) => params?.variables],
    ['onEnveloped', ({ context }: Seen) => context?.params?.variables],
    ['onParse', ({ context }: Seen) => context?.params?.variables],
    ['onValidate', ({ context }: Seen) => context?.params?.variables],
    ['onContextBuilding', ({ context }: Seen) => context?.params?.variables],
    ['onExecute', ({ args }: Seen) => args?.variableValues],
  ] as const)('are heard at %s', async (hook, variablesOf) => {
    const words = ['first', 'first', 'second', 'second', 'first', 'third']
    let word: string | undefined
    const { endpoint } = await startGateway({
      typeDefs: 'type Query { echo(word: String!): String }',
      resolvers: { Query: { echo: (_parent: unknown, args: unknown) => (args as { word: string }).word } },
      dependencies: { 'Query.echo': { variesBy: [] } },
      responseCache: { defaultTtlMs: 60_000 },
      plugins: [
        {
          readsHeaders: [],
          [hook]: (seen: Seen) => void (word && Object.assign(variablesOf(seen) ?? {}, { word })),
        },
      ],
    } as never)
    const ask = async (): Promise<unknown> => {
      const body = JSON.stringify({
        query: 'query ($word: String!) { echo(word: $word) }',
        variables: { word: 'sent' },
      })
      const response = await fetch(endpoint, { method: 'POST', headers: json, body })
      return ((await response.json()) as { data?: { echo: unknown } }).data?.echo
    }
    for (let turn = 0; turn < 4; turn++) expect(await ask()).toBe('sent')
    for (word of words) expect(await ask()).toBe(word)
    word = undefined
    expect(await ask()).toBe('sent')
  })
})

interface Heard {
  readonly endpoint: string
  readonly lines: Record<string, unknown>[]
}

/** A gateway and what it logs of requests. */
async function hear(config: GatewayConfig): Promise<Heard> {
  const lines: Record<string, unknown>[] = []
  const logger = pino(
    { level: 'info' },
    {
      write(text: string) {
        const line = JSON.parse(text) as Record<string, unknown>
        if (line['msg'] === 'request') lines.push(line)
      },
    },
  )
  const { endpoint } = await startGateway({ ...OWN_SCHEMA, ...config }, { logger })
  return { endpoint, lines }
}

const json = { 'content-type': 'application/json' }
const asks = (query: string, more: object = {}): RequestInit => ({
  method: 'POST',
  headers: json,
  body: JSON.stringify({ query, ...more }),
})

interface Asked extends RequestInit {
  /** What follows the endpoint in the URL. */
  readonly search?: string
  /** The body without a `Content-Length`. */
  readonly chunks?: readonly string[]
}

/** With a header that no page of another site can send. */
const gets = (parameters: Record<string, string>, headers: Record<string, string> = {}): Asked => ({
  search: `?${new URLSearchParams(parameters)}`,
  headers: { 'x-graphql-csrf': '1', ...headers },
})
const send = (endpoint: string, { search = '', chunks, ...request }: Asked): Promise<Response> =>
  fetch(`${endpoint}${search}`, {
    ...request,
    ...(chunks && { body: new Blob([...chunks]).stream(), duplex: 'half' }),
  })

const persisted = (query: string): object => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') },
})

const requests: Readonly<Record<string, Asked>> = {
  'a query': asks('{ hello }'),
  'a query with a name': asks('query Hello { hello }'),
  'one with variables': asks('query ($a: String) { echo(text: $a) }', { variables: { a: 'ü' } }),
  'one with other variables': asks('query ($a: String) { echo(text: $a) }', { variables: { a: null } }),
  'wrong variables': asks('query ($a: Color) { echo(color: $a) }', { variables: { a: 'REDD' } }),
  'an error': asks('{ fail hello }'),
  objects: asks('{ item { id item { id } } }'),
  'a value in the document': asks('{ echo(text: "a") }'),
  'another value in the document': asks('{ echo(text: "b") }'),
  'yet another value in the document': asks('{ echo(text: "ccc") hello }'),
  'and another one': asks('{ echo(text: "ddd") hello }'),
  'a value in an erring document': asks('{ echo(text: "ccc") fail }'),
  'another value in an erring document': asks('{ echo(text: "d") fail }'),
  'a third value in an erring document': asks('{ echo(text: "eeeee") fail }'),
  'a mutation': asks('mutation { change }'),
  'a mutation with a value': asks('mutation { change(text: "a") }'),
  'one with another value': asks('mutation { change(text: "b") }'),
  'one with a third value': asks('mutation { change(text: "ccc") }'),
  'one with a value that fails': asks('mutation { change(text: "") }'),
  'a deferred fragment': {
    ...asks('{ hello ... @defer { item { id } } }'),
    headers: { ...json, accept: 'multipart/mixed' },
  },
  'a deferred fragment of a mutation': {
    ...asks('mutation { item { id ... @defer { item { id } } } }'),
    headers: { ...json, accept: 'multipart/mixed' },
  },
  'a deferred fragment as JSON': asks('{ hello ... @defer { item { id } } }'),
  'an invalid query': asks('{ helo }'),
  'an invalid mutation': asks('mutation Change { change(texts: "a") }'),
  'an invalid query of parts': {
    ...asks('{ hello ... @defer { items } }'),
    headers: { ...json, accept: 'multipart/mixed' },
  },
  introspection: asks('{ __schema { queryType { name } } }'),
  'a request id': { ...asks('{ hello }'), headers: { ...json, 'x-request-id': 'mine' } },
  'an origin': { ...asks('{ hello }'), headers: { ...json, origin: 'https://a.test' } },
  somebody: { ...asks('{ hello }'), headers: { ...json, authorization: 'Bearer a' } },
  'a cookie': { ...asks('{ hello }'), headers: { ...json, cookie: 'a=b' } },
  'deep variables': asks('query ($a: String) { echo(text: $a) }', { variables: { b: deep(120) } }),
  'a GET': gets({ query: '{ hello }' }),
  'a GET with variables': gets({ query: 'query ($a: String) { echo(text: $a) }', variables: '{"a":"ü"}' }),
  'a GET with an error': gets({ query: '{ fail hello }' }),
  'a GET of objects': gets({ query: '{ item { id item { id } } }' }),
  'a GET of an invalid query': gets({ query: '{ helo }' }),
  'a GET of an invalid mutation': gets({ query: 'mutation Change { change(texts: "a") }' }),
  'a GET of a mutation': gets({ query: 'mutation { change }' }),
  'a GET of a deferred fragment': gets(
    { query: '{ hello ... @defer { item { id } } }' },
    { accept: 'multipart/mixed' },
  ),
  'a GET with deep variables': gets({ query: '{ hello }', variables: JSON.stringify({ b: deep(120) }) }),
  'a GET with a value in the document': gets({ query: '{ echo(text: "get") }' }),
  'a GET of an origin': gets({ query: '{ hello }' }, { origin: 'https://a.test' }),
  'a GET of somebody': gets({ query: '{ hello }' }, { authorization: 'Bearer a' }),
  'a GET with a cookie': gets({ query: '{ hello }' }, { cookie: 'a=b' }),
  'a GET with a validator': gets({ query: '{ hello }' }, { 'if-none-match': '*' }),
  'a GET with a stale validator': gets({ query: '{ hello }' }, { 'if-none-match': '"a"' }),
  'a GET with a validator of an origin': gets(
    { query: '{ hello }' },
    { 'if-none-match': '*', origin: 'https://a.test' },
  ),
  'a GET with a validator and an error': gets({ query: '{ fail hello }' }, { 'if-none-match': '*' }),
  'a GET with a validator and a value': gets({ query: '{ echo(text: "a") }' }, { 'if-none-match': '*' }),
  'a GET with a deferred fragment and a validator': gets(
    { query: '{ hello ... @defer { item { id } } }' },
    { accept: 'multipart/mixed', 'if-none-match': '*', origin: 'https://a.test' },
  ),
  "a client's library": asks('{ hello }', { extensions: { clientLibrary: { name: 'a', version: '4.0.0' } } }),
  'deep extensions': asks('{ hello }', { extensions: { a: deep(120) } }),
  'a GET with deep extensions': gets({ query: '{ hello }', extensions: JSON.stringify({ a: deep(120) }) }),
  'a document with its hash': asks('{ hello }', { extensions: persisted('{ hello }') }),
  "a document with another one's hash": asks('{ hello }', { extensions: persisted('{ item { id } }') }),
  'a chunked body': { ...asks('{ hello }'), chunks: ['{"query":', '"{ hello }"}'] },
  'a chunked body that is no JSON': { ...asks(''), chunks: ['{"query":', '"{ hello }'] },
  'a large chunked body': {
    ...asks(''),
    chunks: ['{"query":"{ hello }","variables":{"a":"', 'x'.repeat(300_000), '"}}'],
  },
  'a chunked body over the limit': {
    ...asks(''),
    chunks: ['{"query":"{ hello } #', 'x'.repeat(2_000_000), '"}'],
  },
  'the path of deferred results': { ...asks('{ hello ... @defer { item { id } } }'), search: '/defer' },
  'the path of deferred results without a fragment': { ...asks('{ hello }'), search: '/defer' },
  'the path of deferred results with an error': {
    ...asks('{ fail ... @defer { hello } }'),
    search: '/defer?a',
  },
  'the path of deferred results by GET': { ...gets({ query: '{ hello }' }), search: '/defer?query={hello}' },
  'a registered document': asks('', { query: undefined, documentId: 'one' }),
  'a GET of a registered document': gets({ documentId: 'sha256:one', variables: '{}' }),
  'a GET of a document that is not registered': gets({ documentId: 'two' }),
  'a GET of a text and an id': gets({ query: '{ fail }', documentId: 'one' }),
  'a query string': { ...asks('{ hello }'), search: '?op=Hello&query={fail}' },
  'an empty name': asks('query Hello { hello }', { operationName: '' }),
  'a GET that another site could send': { search: gets({ query: '{ hello }' }).search },
  'a GET with a content type': { ...gets({ query: '{ hello }' }), headers: json },
  'a GET with a simple content type': {
    ...gets({ query: '{ hello }' }),
    headers: { 'content-type': 'text/plain' },
  },
  'a GET of a page': gets({ query: '{ hello }' }, { accept: 'text/html' }),
  'a GET with a hash alone': gets({ extensions: '{"persistedQuery":{"version":1,"sha256Hash":"a"}}' }),
  'a HEAD': { ...gets({ query: '{ hello }' }), method: 'HEAD' },
  'no JSON': { method: 'POST', headers: json, body: '{"query":"{ hello }"' },
  'not UTF-8': {
    method: 'POST',
    headers: json,
    body: Buffer.from('7b227175657279223a227b2068656c6c6f207d20ff227d', 'hex'),
  },
}

/** What clients accept, and what browsers and others do. */
const ACCEPTS = [
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9',
  'multipart/mixed; incrementalSpec=v0.2, application/json',
  'multipart/mixed;subscriptionSpec=1.0, application/json',
  'application/json, multipart/mixed;q=0.5',
  'multipart/mixed;q=0, application/json',
  'multipart/mixed',
  'multipart/mixed;unknown=1',
  'text/html, multipart/mixed',
  'text/event-stream, multipart/mixed',
  'text/event-stream, application/json',
  'multipart/mixed, image/png',
  'Multipart/Mixed, Application/JSON',
]

function deep(levels: number): unknown {
  return levels === 0 ? 1 : [deep(levels - 1)]
}

/** Without boundaries, and seconds until a window of 600 is over, which are of one length. */
function alike(bytes: Uint8Array): string {
  return new TextDecoder()
    .decode(bytes)
    .replaceAll(/---?[\w-]{10,}/g, '---')
    .replaceAll(/(in |Seconds":)(?:[45]\d\d|600)\b/g, '$1some')
}

/** All that a client and an operator see of a request, but for what is new each time. */
async function seen({ endpoint, lines }: Heard, request: Asked): Promise<object> {
  const before = lines.length
  const response = await send(endpoint, request)
  const bytes = new Uint8Array(await response.arrayBuffer())
  // Nine megabytes, the same for everybody.
  const isPage = response.headers.get('content-type') === 'text/html'
  const body = isPage ? createHash('sha256').update(bytes).digest('hex') : alike(bytes)
  const { date: _date, 'x-request-id': id, age: _age, ...headers } = Object.fromEntries(response.headers)
  if (headers['retry-after']) headers['retry-after'] = 'some'
  // A long body can arrive before its line is written.
  if (isPage) await waitUntil(() => lines.length > before)
  const { time: _time, ms, id: loggedId, ...line } = lines.at(-1) ?? {}
  return { status: response.status, headers, body, line, isLogged: id === loggedId && typeof ms === 'number' }
}

/** What passes from request to request, beside the time that they take. */
const STEP_MS = 1000

const configs: Readonly<Record<string, GatewayConfig>> = {
  'with everything on': everything,
  'in production': { preset: 'production' },
  'in production, with everything on': { ...everything, preset: 'production' },
  'with stale answers': { responseCache: { defaultTtlMs: STEP_MS / 2, staleWhileRevalidateMs: 60_000 } },
  'with origins': { graphql: { cors: ['https://a.test'] }, responseCache: true },
  'with varying answers': { responseCache: { varyHeaders: ['authorization', 'cookie'] } },
  'with rate limits': { responseCache: true, rateLimit: { rules: [{ max: 100, windowSeconds: 600 }] } },
  'with rate limits of executions': {
    rateLimit: {
      rules: [
        { max: 60, windowSeconds: 600, counts: 'executions' },
        { max: 3, windowSeconds: 600, operations: ['Hello'] },
      ],
    },
  },
  'with automatic persisted queries': { apq: true, responseCache: true },
  'with registered documents': { persistedDocuments: { from: registered }, responseCache: true },
  'with registered documents alone': { persistedDocuments: { from: registered, mode: 'only' } },
  'with costs in answers': { cost: { max: 3, includeExtensionMetadata: true } },
  'with a plugin before the cache': { responseCache: true, plugins: [observer()] },
}

/** One that looks at everything and changes nothing. */
function observer(): Plugin {
  const look = (): void => {}
  const plugin: Plugin = {
    onRequest: look,
    onParams: look,
    onParse: look,
    onValidate: look,
    onContextBuilding: look,
    onExecute: () => ({ onExecuteDone: look }),
    onExecutionResult: look,
    onResultProcess: look,
    onResponse: ({ response }) => response.headers.set('x-seen', String(response.status)),
  }
  return Object.assign(plugin, { readsHeaders: [] })
}

const secret = 'a secret of at least thirty-two characters'
const issuers = [{ issuer: 'https://issuer.test', audience: 'api', secret }]
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function token(sub: string, claims: object = {}): string {
  const exp = Math.floor(Date.now() / 1000) + 600
  const signed = `${encode({ alg: 'HS256' })}.${encode({ iss: 'https://issuer.test', aud: 'api', sub, exp, ...claims })}`
  return `Bearer ${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

/** Who asks: at least two of each kind, so that one could get the other's. */
const callers: Readonly<Record<string, Record<string, string>>> = {
  nobody: {},
  ada: { authorization: token('ada', { scope: 'items' }) },
  bob: { authorization: token('bob', { scope: 'items' }) },
  eve: { authorization: token('eve') },
  'somebody expired': { authorization: token('ada', { scope: 'items', exp: 1 }) },
  'somebody forged': { authorization: `${token('ada', { scope: 'items' }).slice(0, -4)}AAAA` },
  'a liar': { 'x-user': 'ada' },
  'a liar with a token': { 'x-user': 'ada', authorization: token('mallory') },
}

const guarded: GatewayConfig = {
  typeDefs: [OWN_SCHEMA.typeDefs as string, 'extend type Query { me: String }'],
  resolvers: {
    Query: {
      ...(OWN_SCHEMA.resolvers as { Query: object }).Query,
      me: (_: unknown, __: unknown, context: { auth?: { claims: { sub: string } }; request: Request }) =>
        `${context.auth?.claims.sub} ${context.request.headers.get('x-user')}`,
    },
  },
  auth: { jwt: { issuers, forwardClaims: { 'x-user': 'sub' } } },
  access: { fields: { 'Query.item': { scopes: ['items'] }, 'Item.secretName': { authenticated: true } } },
}

const accesses: Readonly<Record<string, GatewayConfig>> = {
  'with rules': guarded,
  'with rules and a cache': { ...guarded, responseCache: { varyHeaders: ['authorization'] } },
  'with rules for whole operations': { ...guarded, access: { ...guarded.access, refuse: 'operation' } },
  'with rules and tokens that must be': {
    ...guarded,
    preset: 'production',
    responseCache: { varyHeaders: ['authorization'] },
    auth: { jwt: { issuers, required: true, forwardClaims: { 'x-user': 'sub' } } },
  },
}

describe.each(Object.entries(accesses))('a gateway %s', (_name, config) => {
  it('shows everybody the same on the prepared path as through all hooks', async () => {
    expect(await startupLog(config)).not.toContain('run all plugin hooks')
    const short = await hear(config)
    const whole = await hear({ ...config, plugins: [...(config.plugins ?? []), CLOSES] })
    const bodies = ['{ me }', '{ item { id } }', '{ item { id secretName } hello }', '{ echo(text: "a") me }']
    bodies.push('{ hello ... @defer { me } }', '{ me ... @defer { item { id secretName } } }')
    for (const time of [1, 2, 3]) {
      for (const query of [...bodies, `{ echo(text: "${time}") me }`]) {
        for (const [name, headers] of Object.entries(callers)) {
          const accept = query.includes('@defer') ? 'multipart/mixed' : 'application/json'
          const request = { ...asks(query), headers: { ...json, accept, ...headers } }
          const expected = await seen(whole, request)
          expect({ name, time, query, ...(await seen(short, request)) }).toEqual({
            name,
            time,
            query,
            ...expected,
          })
        }
      }
    }
  })
})

describe.each(Object.entries(configs))('a gateway %s', (_name, config) => {
  it('shows the same on the prepared path as through all hooks', async () => {
    const short = await hear(config)
    const whole = await hear({ ...config, plugins: [...(config.plugins ?? []), CLOSES] })
    let steps = 0
    const now = vi.spyOn(systemClock, 'now')
    now.mockImplementation(() => performance.now() + STEP_MS * steps)
    onTestFinished(() => now.mockRestore())
    for (const time of [1, 2, 3]) {
      for (const [name, request] of Object.entries(requests)) {
        steps++
        const expected = await seen(whole, request)
        expect({ name, time, ...(await seen(short, request)) }).toEqual({ name, time, ...expected })
      }
    }
  })
})

describe.each(['development', 'production'] as const)('a gateway in %s', (preset) => {
  it('answers alike whatever else a client accepts', async () => {
    const short = await hear({ ...everything, responseCache: false, preset })
    const whole = await hear({
      ...everything,
      responseCache: false,
      preset,
      plugins: [CLOSES],
    })
    const queries = ['{ hello }', '{ fail hello }', '{ hello ... @defer { item { id } } }']
    for (const accept of ACCEPTS) {
      for (const query of queries) {
        const headers = { ...json, 'x-graphql-csrf': '1', accept }
        for (const request of [{ ...asks(query), headers }, gets({ query }, { accept })])
          for (const time of [1, 2]) {
            const expected = await seen(whole, request)
            expect({ accept, query, time, ...(await seen(short, request)) }).toEqual({
              accept,
              query,
              time,
              ...expected,
            })
          }
      }
    }
  })
})

it('counts what sources answer by plans as operations', async () => {
  const rest = await startRestBackend(() => ({ json: { id: 1 } }))
  onTestFinished(() => rest.stop())
  const counts = async (config: GatewayConfig): Promise<string[]> => {
    const { endpoint } = await startGateway({
      ...config,
      preset: 'production',
      metrics: true,
      rest: {
        shop: {
          baseUrl: rest.url,
          endpoints: [
            {
              name: 'thing',
              path: '/thing',
              responseSchema: { typeName: 'Thing', fields: { id: 'int' } },
            },
          ],
        },
      },
    })
    for (const _time of [1, 2, 3]) {
      const answer = await (await fetch(endpoint, asks('{ thing { id } }'))).text()
      expect(answer).toBe('{"data":{"thing":{"id":1}}}')
    }
    const text = await (await fetch(new URL('/metrics', endpoint))).text()
    return text.split('\n').filter((line) => /^vinyasa_operations|_count\{/.test(line))
  }
  const whole = await counts({ plugins: [CLOSES] })
  expect(whole).toContain('vinyasa_operations_total{type="query"} 3')
  expect(await counts({})).toEqual(whole)
})

it('counts the same in its metrics', async () => {
  const counts = async (config: GatewayConfig): Promise<string[]> => {
    const { endpoint } = await startGateway({ ...OWN_SCHEMA, ...everything, ...config })
    for (const _time of [1, 2, 3])
      for (const request of Object.values(requests)) await (await send(endpoint, request)).arrayBuffer()
    const text = await (await fetch(new URL('/metrics', endpoint))).text()
    return text
      .split('\n')
      .filter((line) => /^vinyasa_(?:operations|errors|cache)_|_count\{/.test(line))
      .sort()
  }
  const whole = await counts({ plugins: [CLOSES] })
  expect(whole.length).toBeGreaterThan(5)
  expect(await counts({})).toEqual(whole)
})
