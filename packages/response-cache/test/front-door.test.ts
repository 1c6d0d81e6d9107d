import { once } from 'node:events'
import { createServer, IncomingMessage, request, type ServerOptions, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { createSchema, createYoga, type Plugin, type YogaServerOptions } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { useResponseCache } from '../src/index.ts'
import { isBoundedBody } from '../src/plugin.ts'

const query = '{ hello }'
const body = JSON.stringify({ query })
const streams = { count: 0 }
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const YogasTransformStream = createYoga({ logging: false }).fetchAPI.TransformStream

const CountedTransformStream = new Proxy(YogasTransformStream, {
  construct(target, args, newTarget) {
    streams.count++
    return Reflect.construct(target, args, newTarget) as object
  },
})

interface Served {
  readonly port: number
}

interface Door extends ServerOptions {
  readonly onIncoming?: (request: IncomingMessage) => void
}

async function serve(options: YogaServerOptions<object, object>, door: Door = {}): Promise<Served> {
  const yoga = createYoga({
    logging: false,
    batching: true,
    schema: createSchema({
      typeDefs: 'type Query { hello(name: String): String! }',
      resolvers: { Query: { hello: (_root, { name }) => `hello ${name ?? 'you'}` } },
    }),
    fetchAPI: { TransformStream: CountedTransformStream },
    ...options,
  })
  const server = createServer(door, (incoming: IncomingMessage, outgoing: ServerResponse) => {
    door.onIncoming?.(incoming)
    void yoga(incoming, outgoing)
  })
  closing.push(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port }
}

interface Sent {
  readonly body: string | Buffer
  readonly headers?: Record<string, string>
  readonly isChunked?: boolean
}

interface Received {
  readonly status: number | undefined
  readonly headers: Record<string, unknown>
  readonly text: string
}

/** One request on a connection of its own, and what is comparable of its answer. */
async function send({ port }: Served, { body, headers, isChunked = false }: Sent): Promise<Received> {
  const sending = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/graphql',
    agent: false,
    headers: {
      'content-type': 'application/json',
      ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
  })
  sending.on('error', () => {})
  sending.end(body)
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const { date: _date, 'x-cache': _cache, age: _age, ...compared } = response.headers
  return { status: response.statusCode, headers: compared, text: Buffer.concat(chunks).toString() }
}

const cached: YogaServerOptions<object, object> = { plugins: [useResponseCache()] }

describe('a body is read as Yoga reads it', () => {
  const rows: readonly [string, Sent][] = [
    ['a query', { body }],
    ['a query in chunks', { body, isChunked: true }],
    ['a batch', { body: `[${body},${body}]` }],
    ['text that is no JSON', { body: '{"query":' }],
    ['an empty body', { body: '' }],
    ['null', { body: 'null' }],
    ['a number', { body: '1' }],
    ['a text', { body: '"{ hello }"' }],
    ['an unknown parameter', { body: '{"query":"{ hello }","other":1}' }],
    ['invalid UTF-8', { body: Buffer.from([0x7b, 0xff, 0x7d]) }],
    ['a byte order mark', { body: `\uFEFF${body}` }],
    ['more bytes than are allowed', { body: `{"query":"{ hello } #${'x'.repeat(1000)}"}` }],
    [
      'more bytes than are allowed, in chunks',
      { body: `{"query":"{ hello } #${'x'.repeat(1000)}"}`, isChunked: true },
    ],
    ['another media type', { body, headers: { 'content-type': 'text/plain' } }],
    [
      'application/graphql+json',
      { body, headers: { 'content-type': 'application/graphql+json; charset=utf-8' } },
    ],
    ['application/graphql', { body: '{ hello }', headers: { 'content-type': 'application/graphql' } }],
  ]
  it.each(rows)('%s', async (_name, sent) => {
    const limit = { maxRequestBodySize: 500 }
    const ours = await serve({ ...cached, ...limit })
    const theirs = await serve(limit)
    for (let round = 0; round < 3; round++) expect(await send(ours, sent)).toEqual(await send(theirs, sent))
  })
})

describe("Yoga's counting stream", () => {
  const made = async (server: Served, sent: Sent): Promise<number> => {
    streams.count = 0
    expect((await send(server, sent)).status).toBe(200)
    return streams.count
  }

  it('is spared where Content-Length bounds the body, and counts where nothing does', async () => {
    const server = await serve(cached)
    expect(await made(await serve({}), { body })).toBe(1)
    for (let round = 0; round < 2; round++) {
      expect(await made(server, { body })).toBe(0)
      expect(await made(server, { body, isChunked: true })).toBe(1)
    }
  })

  it('counts where a plugin behind the cache, alike to one of Yoga, hooks into parsing', async () => {
    const alike: Plugin = { onRequestParse: () => {} }
    const server = await serve({ plugins: [useResponseCache(), alike] })
    for (let round = 0; round < 2; round++) expect(await made(server, { body })).toBe(1)
    const before = await serve({ plugins: [alike, useResponseCache()] })
    for (let round = 0; round < 2; round++) expect(await made(before, { body })).toBe(0)
  })

  it('counts chunks that a lenient parser lets go beyond Content-Length', async () => {
    const server = await serve({ ...cached, maxRequestBodySize: 500 }, { insecureHTTPParser: true })
    const headers = { 'content-length': '5' }
    const long = `{"query":"{ hello } #${'x'.repeat(1000)}"}`
    expect((await send(server, { body: long, headers, isChunked: true })).status).toBe(413)
    expect((await send(server, { body, headers, isChunked: true })).status).toBe(200)
  })

  it('counts what a plugin put in place of the body', async () => {
    const replace: Plugin = {
      onRequest({ request: given, setRequest, fetchAPI }) {
        const headers = Object.fromEntries(given.headers.entries())
        const long = `{"query":"{ hello } #${'x'.repeat(1000)}"}`
        setRequest(new fetchAPI.Request(given.url, { method: 'POST', headers, body: long }))
      },
    }
    const server = await serve({ plugins: [replace, useResponseCache()], maxRequestBodySize: 500 })
    expect((await send(server, { body })).status).toBe(413)
  })

  it('counts where a plugin changed Content-Length', async () => {
    const change: Plugin = {
      onRequest: ({ request: given }) => given.headers.set('content-length', '10'),
    }
    const server = await serve({ plugins: [change, useResponseCache()], maxRequestBodySize: 500 })
    const long = `{"query":"{ hello } #${'x'.repeat(1000)}"}`
    expect((await send(server, { body: long })).status).toBe(413)
  })

  it('counts what a plugin unpacked', async () => {
    const unpack: Plugin = {
      async onRequest({ request: packed, setRequest, fetchAPI }) {
        const bytes = gunzipSync(Buffer.from(await packed.arrayBuffer()))
        const headers = Object.fromEntries(packed.headers.entries())
        setRequest(new fetchAPI.Request(packed.url, { method: 'POST', headers, body: bytes }))
      },
    }
    const server = await serve({ plugins: [unpack, useResponseCache()], maxRequestBodySize: 500 })
    expect(await made(server, { body: gzipSync(body) })).toBe(1)
    const bomb = gzipSync(`{"query":"{ hello } #${'x'.repeat(10_000)}"}`)
    expect(bomb.length).toBeLessThan(500)
    expect((await send(server, { body: bomb })).status).toBe(413)
  })
})

it('a request that is made only when somebody looks at it is not made', () => {
  let isMade = false
  class LateRequest {
    readonly method = 'POST'
    get bodyInit(): unknown {
      isMade = true
      return undefined
    }
  }
  const req = new IncomingMessage(new Socket())
  expect(isBoundedBody(new LateRequest() as unknown as Request, { req })).toBe(false)
  expect(isMade).toBe(false)
})

describe('other plugins', () => {
  const translate: Plugin = {
    onRequestParse: ({ setRequestParser }) =>
      setRequestParser(async (given) => ({ query: `{ ${((await given.json()) as { say: string }).say} }` })),
  }
  const say: Sent = { body: '{"say":"hello"}' }

  it.each([
    ['before', [translate, useResponseCache()]],
    ['behind', [useResponseCache(), translate]],
  ])('a parser of one that stands %s the cache is honoured', async (_place, plugins) => {
    const server = await serve({ plugins })
    for (let round = 0; round < 2; round++) {
      expect((await send(server, say)).text).toBe('{"data":{"hello":"hello you"}}')
    }
  })

  it('one that reads the body again gets it', async () => {
    const seen: string[] = []
    const reading: Plugin = {
      async onParams({ request: given }) {
        seen.push(await given.text())
      },
    }
    const server = await serve({ plugins: [useResponseCache(), reading] })
    for (let round = 0; round < 2; round++) await send(server, { body })
    expect(seen).toEqual([body, body])
  })
})

it('a hit is the bytes of the miss it came from, for any text', async () => {
  const server = await serve(cached)
  const greeting = 'query ($name: String) { hello(name: $name) }'
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0000', '\u2028', 'é', '漢', '🙂') })
  await fc.assert(
    fc.asyncProperty(text, async (name) => {
      const sent = { body: JSON.stringify({ query: greeting, variables: { name } }) }
      const miss = await send(server, sent)
      expect(await send(server, sent)).toEqual(miss)
      expect(JSON.parse(miss.text)).toEqual({ data: { hello: `hello ${name}` } })
    }),
    { numRuns: 50 },
  )
})

it('a body that a framework parsed before is taken from it', async () => {
  const server = await serve(cached, {
    onIncoming: (incoming) => Object.assign(incoming, { body: { query } }),
  })
  for (let round = 0; round < 2; round++) {
    expect((await send(server, { body })).text).toBe('{"data":{"hello":"hello you"}}')
  }
})

describe('a body that a framework has read', () => {
  it('gets what a plain Yoga server answers, and never hangs', async () => {
    const answers: string[] = []
    for (const plugins of [[], [useResponseCache({})]] as Plugin[][]) {
      const yoga = createYoga({
        logging: false,
        schema: createSchema({
          typeDefs: 'type Query { hello: String! }',
          resolvers: { Query: { hello: () => 'you' } },
        }),
        plugins,
      })
      const server = createServer((incoming, outgoing) => {
        incoming.resume().once('end', () => void yoga(incoming, outgoing))
      })
      closing.push(() => void server.close().closeAllConnections())
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(5_000),
      })
      answers.push(`${response.status} ${await response.text()}`)
    }
    expect(answers[1]).toBe(answers[0])
    expect(answers[0]).toMatch(/^400 /)
  })
})
