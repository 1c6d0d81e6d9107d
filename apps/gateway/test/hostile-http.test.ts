import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { serverAudits } from 'graphql-http'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../src/logging/logger.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import type { PresetName } from '../src/presets.ts'
import { OWN_SCHEMA, post, startGateway, type RunningGateway } from './support/gateway.ts'

const PRESETS: readonly PresetName[] = ['development', 'production']

function start(preset: PresetName): Promise<RunningGateway> {
  return startGateway({ preset, ...OWN_SCHEMA })
}

/** Sends bytes as they are and resolves to what comes back until it matches, the server ends, or 3 s pass. */
async function raw(url: string, bytes: string | Uint8Array, until?: RegExp): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text
    if (until?.test(answer)) socket.destroy()
  })
  await once(socket, 'connect')
  socket.write(bytes)
  const timer = setTimeout(() => socket.destroy(), 3000)
  await closed
  clearTimeout(timer)
  return answer
}

function rawPost(body: string | Uint8Array, headers = ''): Uint8Array {
  const bytes = Buffer.from(body)
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

function chunkedHead(headers = ''): string {
  return `POST /graphql HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
}

const INTERNALS =
  /at position|Unexpected token|JSON\.parse|SyntaxError|node_modules|\.ts:|\.js:|originalError|"stack"/i
const deep = (levels: number): string => `${'{ item '.repeat(levels)}{ id }${'}'.repeat(levels)}`

describe.each(PRESETS)('hostile requests, %s preset', (preset) => {
  it.each(['//', '///', 'http://[', '/\\\\', '*', 'x', '//[/graphql/live', '/graphql/live/../..//'])(
    'the request target %s, upgraded or not: refused, and the gateway lives',
    async (target) => {
      const { server } = await start(preset)
      const head = `GET ${target} HTTP/1.1\r\nHost: x\r\n`
      const upgrade = `${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`
      expect(await raw(server.url, upgrade)).toMatch(/^HTTP\/1\.1 4\d\d /)
      expect(await raw(server.url, `${head}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4\d\d /)
      expect((await fetch(`${server.url}/health/live`)).ok).toBe(true)
    },
  )

  it.each([
    '/graphql/../metrics',
    '/graphql/%2e%2E/metrics',
    '/./metrics',
    '/x\\..\\metrics',
    '/x/../health/live',
  ])('returns 404 for the path %s with a dot segment, upgraded or not', async (target) => {
    const { server } = await startGateway({ preset, ...OWN_SCHEMA, metrics: true })
    const head = `GET ${target} HTTP/1.1\r\nHost: x\r\n`
    expect(await raw(server.url, `${head}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 404 /)
    const upgrade = `${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`
    expect(await raw(server.url, upgrade)).toMatch(/^HTTP\/1\.1 404 /)
    const query = await raw(
      server.url,
      `GET /metrics?x=/../y HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    expect(query).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('a client that resets the connection while its upgrade is refused harms nobody', async () => {
    const { server } = await start(preset)
    const { hostname, port } = new URL(server.url)
    for (let client = 0; client < 50; client++) {
      const socket = connect(Number(port), hostname).on('error', () => {})
      await once(socket, 'connect')
      const path = client % 2 === 0 ? '/elsewhere' : '//'
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
      for (let turn = 0; turn < client % 5; turn++) await setImmediate()
      socket.resetAndDestroy()
      await once(socket, 'close')
    }
    expect((await fetch(`${server.url}/health/live`)).ok).toBe(true)
  })

  it('refused upgrades of clients that never end are let go', async () => {
    const { server } = await start(preset)
    const { hostname, port } = new URL(server.url)
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    socket.write('GET /elsewhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await once(socket.resume(), 'end')
    // Whoever writes to a socket that is gone learns it.
    const timer = setInterval(() => socket.write('x'), 10)
    onTestFinished(() => clearInterval(timer))
    const [error] = await once(socket, 'error')
    expect(error).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) })
  })

  it('a client that leaves while requests wait behind another: they end too', async () => {
    let begun = 0
    let left = 0
    const { server } = await startGateway({
      preset,
      typeDefs: 'type Query { wait: String }',
      resolvers: {
        Query: {
          wait: (_root: unknown, _args: unknown, { request }: { request: Request }) =>
            new Promise((resolve) => {
              begun++
              request.signal.addEventListener('abort', () => {
                left++
                resolve('too late')
              })
            }),
        },
      },
    })
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname).on('error', () => {})
    const requests = 20
    const body = '{"query":"{ wait }"}'
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    socket.write(`${head}${body}`.repeat(requests))
    // They take turns with other clients' requests, so not all of them begin at once.
    await expect.poll(() => begun).toBe(requests)
    socket.resetAndDestroy()
    await expect.poll(() => left).toBe(requests)
  })

  it.each([
    ['truncated JSON', rawPost('{"query": "{ hel')],
    ['bad UTF-8', rawPost(Buffer.from([0x7b, 0x22, 0x71, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))],
    ['bad UTF-8 inside a string', rawPost(Buffer.from('{"query":"{ echo(text: \\"\xff\\") }"}', 'latin1'))],
    ['gzip bytes', rawPost(gzipSync('{"query":"{ hello }"}'))],
    ['no JSON', rawPost('query=1')],
    ['a JSON string', rawPost('"{ hello }"')],
    ['null', rawPost('null')],
    ['an empty body', rawPost('')],
    ['a query that is a number', rawPost('{"query":1}')],
    ['variables that are a string', rawPost('{"query":"{ hello }","variables":"x"}')],
    ['an unknown parameter', rawPost('{"query":"{ hello }","nope":1}')],
    ['500,000 nested arrays', rawPost(`{"query":"{ hello }","variables":${'['.repeat(500_000)}`)],
    ['an array of 200,000 operations', rawPost(`[${'{},'.repeat(200_000)}{}]`)],
  ])('%s: 400, and nothing of the inside', async (_, bytes) => {
    const { server } = await start(preset)
    const answer = await raw(server.url, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).not.toMatch(INTERNALS)
  })

  it('GET with broken variables: 400, and nothing of the inside', async () => {
    const { endpoint } = await start(preset)
    const url = `${endpoint}?query=${encodeURIComponent('{ hello }')}&variables=%7Bbroken`
    const response = await fetch(url, { headers: { 'x-graphql-csrf': '1' } })
    expect(response.status).toBe(400)
    expect(await response.text()).not.toMatch(INTERNALS)
  })

  it('a body over 1 MB with its length: 413', async () => {
    const { server } = await start(preset)
    const answer = await raw(
      server.url,
      rawPost(JSON.stringify({ query: '{ hello }', x: 'x'.repeat(1_048_576) })),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('a chunked body over 1 MB: 413 before it is sent whole', async () => {
    const { server } = await start(preset)
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    // No last chunk: only a server that stops reading answers at all.
    const answer = await raw(server.url, `${chunkedHead()}${chunk.repeat(17)}`, /\r\n\r\n.*}$/s)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('a chunked body under the limit is answered', async () => {
    const { server } = await start(preset)
    const body = '{"query":"{ hello }"}'
    const answer = await raw(
      server.url,
      `${chunkedHead('Connection: close\r\n')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    )
    expect(answer).toContain('{"data":{"hello":"world"}}')
  })

  it('a multi-byte character cut by a chunk is put together again', async () => {
    const { server } = await start(preset)
    const body = Buffer.from('{"query":"{ echo(text: \\"ü\\") }"}')
    const cut = body.indexOf(0xc3) + 1
    const part = (bytes: Buffer): string => `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`
    const head = chunkedHead('Connection: close\r\n')
    const bytes = Buffer.from(
      `${head}${part(body.subarray(0, cut))}${part(body.subarray(cut))}0\r\n\r\n`,
      'latin1',
    )
    expect(Buffer.from(await raw(server.url, bytes), 'latin1').toString()).toContain('{"data":{"echo":"ü"}}')
  })

  it.each([2000, 5000, 20_000])(
    'depth %i: 400, in a fraction of what parsing it would take',
    async (levels) => {
      const { endpoint } = await start(preset)
      const response = await post(endpoint, { query: deep(levels) })
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('DOCUMENT_LIMIT_EXCEEDED')
    },
  )

  it('50,000 aliases: 400', async () => {
    const { endpoint } = await start(preset)
    const query = `{ ${Array.from({ length: 50_000 }, (_, i) => `a${i}: hello`).join(' ')} }`
    const response = await post(endpoint, { query })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('DOCUMENT_LIMIT_EXCEEDED')
  })

  it.each([
    ['lists in arguments', `{ echo(text: ${'['.repeat(20_000)}`],
    ['objects in arguments', `{ echo(text: ${'{a:'.repeat(20_000)}`],
    ['a type of lists', `query ($v: ${'['.repeat(20_000)}String) { hello }`],
    ['100,000 digits', `{ echo(text: ${'9'.repeat(100_000)}) }`],
    ['a string never closed', `{ echo(text: "${'x'.repeat(100_000)}`],
    ['100,000 comments', `${'#\n'.repeat(100_000)}`],
    [
      'fragments that spread each other',
      'fragment A on Query { ...B } fragment B on Query { ...A } { ...A }',
    ],
    ['an empty query', ''],
    ['an unknown operation', 'subscription { x }'],
    ['no operation', 'fragment A on Query { hello }'],
    ['a null byte', '{ hello\u0000 }'],
    ['a lone surrogate', '{ echo(text: "\ud800") }'],
  ])('%s: never 5xx', async (_, query) => {
    const { endpoint } = await start(preset)
    const response = await post(endpoint, { query })
    expect(response.status).toBeLessThan(500)
    expect(await response.text()).not.toMatch(INTERNALS)
  })

  it.each([
    ['nested arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['nested objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['__proto__', '{"__proto__":{"polluted":1}}'],
    ['another type', '{"a":1}'],
    ['a huge number', '1e999'],
  ])('a variable of %s: never 5xx', async (_, variable) => {
    const { server } = await start(preset)
    const body = `{"query":"query ($t: String) { echo(text: $t) }","variables":{"t":${variable}}}`
    expect(await raw(server.url, rawPost(body))).toMatch(/^HTTP\/1\.1 [24]\d\d /)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('a mutation by GET is refused and not executed', async () => {
    const { endpoint } = await start(preset)
    const url = `${endpoint}?query=${encodeURIComponent('mutation { change }')}`
    const plain = await fetch(url)
    expect([403, 405]).toContain(plain.status)
    const withHeader = await fetch(url, { headers: { 'x-graphql-csrf': '1' } })
    expect(withHeader.status).toBe(405)
    expect(await withHeader.text()).not.toContain('"change":true')
  })

  it('an error of a resolver is masked', async () => {
    const { endpoint } = await start(preset)
    const text = await (await post(endpoint, { query: '{ fail }' })).text()
    expect(text).toContain('Unexpected error.')
    expect(text).not.toContain('a detail of the inside')
  })

  it('a foreign origin gets no CORS header, neither on a request nor on a preflight', async () => {
    const { endpoint } = await start(preset)
    const answer = await post(endpoint, { query: '{ hello }' }, { origin: 'https://evil.example' })
    const preflight = await fetch(endpoint, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    for (const { headers } of [answer, preflight]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })
})

describe('CORS for listed origins', () => {
  const LISTED = 'https://shop.example'
  it.each([
    ['a listed origin', LISTED, [LISTED], LISTED, 'true'],
    ['another origin', 'https://evil.example', [LISTED], null, null],
    ['another origin beside two listed', 'https://evil.example', [LISTED, 'https://b.example'], null, null],
    ['a sandboxed frame', 'null', [LISTED, 'https://b.example'], null, null],
    ['any origin, without credentials', 'https://any.example', ['*'], 'https://any.example', null],
  ] as const)('%s', async (_, origin, cors, allowed, credentials) => {
    const { endpoint } = await startGateway({ ...OWN_SCHEMA, graphql: { cors: [...cors] } })
    for (const method of ['POST', 'OPTIONS']) {
      const { headers } = await fetch(endpoint, {
        method,
        headers: { origin, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{"query":"{ hello }"}' }),
      })
      expect(headers.get('access-control-allow-origin')).toBe(allowed)
      expect(headers.get('access-control-allow-credentials')).toBe(credentials)
      expect(headers.get('vary')).toMatch(/origin/i)
    }
  })
})

describe('CSRF prevention', () => {
  const form = new URLSearchParams({ query: 'mutation { change }' })
  const multipart = new FormData()
  multipart.set('operations', '{"query":"mutation { change }"}')
  multipart.set('map', '{}')

  it.each([
    ['urlencoded', { method: 'POST', body: form }],
    ['multipart', { method: 'POST', body: multipart }],
    ['text/plain', { method: 'POST', body: '{"query":"mutation { change }"}' }],
    ['GET', { method: 'GET' }],
  ])('a mutation by %s: refused', async (kind, init) => {
    const { endpoint } = await start('production')
    const url = kind === 'GET' ? `${endpoint}?${form.toString()}` : endpoint
    const response = await fetch(url, init)
    expect([403, 405]).toContain(response.status)
    expect(await response.text()).not.toContain('"change":true')
  })

  it('a form with a header that no form can send is answered', async () => {
    const { endpoint } = await start('production')
    const response = await fetch(endpoint, {
      method: 'POST',
      body: new URLSearchParams({ query: '{ hello }' }),
      headers: { 'x-graphql-csrf': '1' },
    })
    expect(await response.json()).toEqual({ data: { hello: 'world' } })
  })

  it("graphql-http's audits: all but the three that send a GET with no header", async () => {
    const { endpoint } = await startGateway({
      ...OWN_SCHEMA,
      responseCache: true,
      graphql: { csrfPrevention: true },
    })
    expect(await failedAudits(endpoint)).toEqual(['5A70', '6A70', 'D6D5'])
  })

  it("graphql-http's audits without it: all 61", async () => {
    const { endpoint } = await startGateway({ ...OWN_SCHEMA, responseCache: true })
    expect(await failedAudits(endpoint)).toEqual([])
  })
})

async function failedAudits(url: string): Promise<string[]> {
  const audits = serverAudits({ url, fetchFn: fetch })
  expect(audits).toHaveLength(61)
  const results = await Promise.all(audits.map((audit) => audit.fn()))
  return results.flatMap((result) => (result.status === 'ok' ? [] : [result.id])).toSorted()
}

describe('the schema stays hidden in production', () => {
  it('introspection over HTTP: refused', async () => {
    const { endpoint } = await start('production')
    for (const query of ['{ __schema { types { name } } }', '{ __type(name: "Item") { name } }']) {
      const response = await post(endpoint, { query })
      expect((await response.json()).data).toBeUndefined()
    }
  })

  it('introspection over WebSocket: refused', async () => {
    const { server } = await start('production')
    const socket = await connectRawWebSocket(`${server.url.replace('http', 'ws')}/graphql`)
    socket.sendJson({ type: 'connection_init' })
    await socket.next()
    socket.sendJson({ id: '1', type: 'subscribe', payload: { query: '{ __schema { types { name } } }' } })
    expect(JSON.stringify(await socket.nextJson())).toContain('GraphQL introspection')
    await socket.close()
  })

  const WITH_EVENTS = {
    typeDefs: `${OWN_SCHEMA.typeDefs} input Paint { color: Color } extend type Query { paint(paint: Paint): String }
      type Subscription { events(color: Color): Int }`,
    resolvers: {
      ...OWN_SCHEMA.resolvers,
      Subscription: { events: { subscribe: async function* () {} } },
    },
  } as Pick<GatewayConfig, 'typeDefs' | 'resolvers'>
  const MISSPELLED: readonly (readonly [string, Record<string, unknown>])[] = [
    ['a field', { query: '{ helo }' }],
    ['an argument', { query: '{ echo(txt: "a") }' }],
    ['a type', { query: '{ ... on Quer { hello } }' }],
    ['an enum value', { query: '{ echo(color: GREN) }' }],
    [
      'an enum value in a variable',
      { query: 'query ($c: Color) { echo(color: $c) }', variables: { c: 'GREN' } },
    ],
    [
      'an enum value of a live query',
      { query: 'query ($c: Color) @live { echo(color: $c) }', variables: { c: 'GREN' } },
    ],
    [
      'an enum value of a deferred query',
      { query: 'query ($c: Color) { ... @defer { echo(color: $c) } }', variables: { c: 'GREN' } },
    ],
    [
      'an enum value of a subscription',
      { query: 'subscription ($c: Color) { events(color: $c) }', variables: { c: 'GREN' } },
    ],
    [
      'a field of a variable',
      { query: 'query ($p: Paint) { paint(paint: $p) }', variables: { p: { colr: 1 } } },
    ],
    [
      'an enum value inside a variable',
      { query: 'query ($p: Paint) { paint(paint: $p) }', variables: { p: { color: 'GREN' } } },
    ],
    ['a type of a variable', { query: 'query ($c: Colr) { echo(color: $c) }', variables: { c: 'RED' } }],
    ['several at once', { query: '{ helo item { secretNam } echo(color: GREN) }' }],
    [
      'a long value',
      { query: 'query ($c: Color) { echo(color: $c) }', variables: { c: `GREE${'N'.repeat(2_000)}` } },
    ],
  ]
  const HTTP = (body: unknown, accept: string) => async (url: string) =>
    (await post(`${url}/graphql`, body, { accept, 'x-graphql-csrf': '1' })).text()
  const WAYS: Readonly<Record<string, (url: string, body: Record<string, unknown>) => Promise<string>>> = {
    HTTP: (url, body) => HTTP(body, 'application/json')(url),
    'server-sent events': (url, body) => HTTP(body, 'text/event-stream')(url),
    multipart: (url, body) => HTTP(body, 'multipart/mixed, application/json')(url),
    'a batch': (url, body) => HTTP([body, body], 'application/json')(url),
    GET: async (url, { query, variables }) => {
      const search = new URLSearchParams({ query: String(query), variables: JSON.stringify(variables ?? {}) })
      return (await fetch(`${url}/graphql?${search}`, { headers: { 'x-graphql-csrf': '1' } })).text()
    },
    WebSocket: async (url, payload) => {
      const socket = await connectRawWebSocket(`${url.replace('http', 'ws')}/graphql`)
      socket.sendJson({ type: 'connection_init' })
      await socket.next()
      socket.sendJson({ id: '1', type: 'subscribe', payload })
      const text = JSON.stringify(await socket.nextJson())
      await socket.close()
      return text
    },
  }

  describe.each(Object.entries(WAYS))('over %s', (way, ask) => {
    it.each(MISSPELLED)('no suggestion for %s', async (_, body) => {
      const graphql = { batching: 2 }
      const { server } = await startGateway({ preset: 'production', ...WITH_EVENTS, graphql })
      const text = await ask(server.url, body)
      expect(text).toMatch(/"errors"|"type":"error"/)
      expect(text).not.toMatch(/Did you mean|hello|text|secretName|GREEN"|RED|"color"/)
    })

    it('suggests values in development', async () => {
      const { server } = await startGateway({
        preset: 'development',
        ...WITH_EVENTS,
        graphql: { batching: 2 },
      })
      const texts = await Promise.all(MISSPELLED.map(([, body]) => ask(server.url, body)))
      // Values that are too long have no near name.
      expect(texts.map((text) => text.includes('Did you mean'))).toEqual(
        MISSPELLED.map(([name]) => name !== 'a long value'),
      )
    })
  })

  it('sends the same error of a variable over WebSocket as over HTTP', async () => {
    const { server } = await start('production')
    const body = { query: 'query ($c: Color) { echo(color: $c) }', variables: { c: 'GREN' } }
    const [http, socket] = [
      await WAYS['HTTP']?.(server.url, body),
      await WAYS['WebSocket']?.(server.url, body),
    ]
    expect(JSON.parse(socket ?? '').payload).toEqual(JSON.parse(http ?? '').errors)
  })
})

describe('server.maxConnections', () => {
  async function connected(url: string): Promise<Socket> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).resume()
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }

  it('a connection beyond it is closed unheard and logged; one that ends makes room', async () => {
    const lines: string[] = []
    const logger = await createLogger({ destination: { write: (line) => lines.push(line) } })
    const { server, endpoint } = await startGateway(OWN_SCHEMA, {
      maxConnections: 2,
      maxAddressShare: 1,
      logger,
    })
    const held = [await connected(server.url), await connected(server.url)]
    // Idle ones make room: these have a request.
    for (const socket of held)
      socket.write(
        'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n',
      )
    await new Promise((resolve) => setTimeout(resolve, 50))
    await Promise.all(
      [1, 2, 3].map(async () => {
        const socket = await connected(server.url)
        if (!socket.closed) await once(socket, 'close')
      }),
    )
    await expect(post(endpoint, { query: '{ hello }' })).rejects.toThrow('fetch failed')
    held[0]?.destroy()
    await expect
      .poll(() => post(endpoint, { query: '{ hello }' }).then(({ status }) => status, String))
      .toBe(200)
    await expect
      .poll(() => lines.find((line) => line.includes('"connections were refused')), { timeout: 5000 })
      .toMatch(/"level":40,.*"refused":\d+,"closed":0,"maxConnections":2/)
  })
})

describe('slow clients', () => {
  it('headers that do not come in time: the connection is ended', async () => {
    const { server } = await startGateway(OWN_SCHEMA, { headersTimeoutMs: 200 })
    const started = performance.now()
    const answer = await raw(server.url, 'POST /graphql HTTP/1.1\r\nHost: x\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(performance.now() - started).toBeLessThan(2500)
  })
})
