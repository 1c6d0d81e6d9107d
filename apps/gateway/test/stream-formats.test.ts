import { connectRawWebSocket, startIssuer, AUDIENCE } from '@vinyasa/test-kit'
import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { serve, type GatewayServer } from '../src/server.ts'
import { post } from './support/gateway.ts'

const logger = await createLogger({ level: 'silent' })
const LIVE = 'query @live { item { shown } }'
const EVENTS = 'subscription { ticks }'
const TEXT = 'query @live { text }'
const PARTS = 'multipart/mixed;subscriptionSpec=1.0'

/** What libraries send, and headers between them: each names a stream. */
const ACCEPTS = [
  // @urql/core
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  'multipart/mixed, text/event-stream',
  'text/event-stream, */*',
  'text/event-stream, multipart/*',
  `${PARTS}, text/event-stream`,
  `${PARTS}, multipart/mixed, application/json`,
  'multipart/mixed;deferSpec=20220824, text/event-stream, application/json;q=0.5',
]

interface Started {
  readonly server: GatewayServer
  readonly runs: () => number
  readonly reload: () => Promise<void>
  /** Changes what a query reads, without an event. */
  readonly change: (value: string) => void
  readonly tick: (value: string) => void
}

async function start(auth?: object, bus?: InvalidationBus): Promise<Started> {
  let runs = 0
  let shown = 'plain'
  const waiting: ((value: string) => void)[] = []
  const gatewayWith = (fields: string): ReturnType<typeof createGateway> =>
    createGateway(
      {
        typeDefs: `type Item { ${fields} } type Query { item: Item text: String } type Subscription { ticks: String }`,
        resolvers: {
          Query: {
            item: () => (runs++, { shown: 'a', secret: 'b' }),
            text: () => (runs++, shown),
          },
          Subscription: {
            ticks: {
              subscribe: () => (
                runs++,
                {
                  [Symbol.asyncIterator]() {
                    return this
                  },
                  next: () =>
                    new Promise<IteratorResult<unknown>>((resolve) =>
                      waiting.push((ticks) => resolve({ done: false, value: { ticks } })),
                    ),
                  return: async () => ({ done: true, value: undefined }),
                }
              ),
            },
          },
        },
        liveQuery: {
          defaults: { enabled: true, strategy: 'POLLING', pollIntervalMs: 60_000, throttleMs: 0 },
          fields: {
            text: { enabled: true, triggers: ['Text.update'], throttleMs: 0, strategy: 'INVALIDATION' },
          },
        },
        ...auth,
      } as never,
      { baseDirectory: '/', logger, bus },
    )
  const gateway = await gatewayWith('shown: String secret: String')
  const server = await serve(gateway, { port: 0 })
  onTestFinished(() => server.close({ graceMs: 50 }))
  return {
    server,
    runs: () => runs,
    reload: async () => server.replace(await gatewayWith('shown: String')),
    change: (value) => void (shown = value),
    tick(value) {
      waiting.shift()?.(value)
    },
  }
}

async function openStream(server: GatewayServer, query: string, accept: string, headers: object = {}) {
  const response = await post(`${server.url}/graphql`, { query }, { accept, ...headers })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (wanted: string): Promise<string> => {
    while (!text.includes(wanted)) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`The stream ended with ${text}`)
      text += value
    }
    const all = text
    text = ''
    return all
  }
  const ended = async (): Promise<'cut' | 'ended'> => {
    for (;;) {
      const step = await reader.read().catch(() => undefined)
      if (!step) return 'cut'
      if (step.done) return 'ended'
    }
  }
  onTestFinished(() => reader.cancel().catch(() => {}))
  return { response, until, ended }
}

describe.each(ACCEPTS)('a live query with Accept: %s', (accept) => {
  it('leaves as events or in multipart/mixed;subscriptionSpec=1.0, and ends with a reload', async () => {
    const { server, reload } = await start()
    const stream = await openStream(server, 'query @live { item { secret } }', accept)
    expect(stream.response.headers.get('content-type')).toMatch(
      /^(text\/event-stream|multipart\/mixed;boundary="graphql";subscriptionSpec=1\.0)$/,
    )
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no')
    await stream.until('"secret":"b"')
    await reload()
    expect(await stream.ended()).toBe('cut')
  })

  it('holds back no stop', { timeout: 12_000 }, async () => {
    const { server } = await start()
    const stream = await openStream(server, LIVE, accept)
    await stream.until('"shown":"a"')
    await server.close({ graceMs: 60_000 })
    expect(await stream.ended()).toBe('cut')
  })
})

/** A gateway that was asked just now listens for a second more. */
async function keepsListening({ url }: GatewayServer): Promise<void> {
  expect((await post(`${url}/graphql`, { query: '{ text }' })).status).toBe(200)
}

describe('while the gateway stops', () => {
  it.each([
    ['a live query', LIVE, 'text/event-stream'],
    ['a live query in parts', LIVE, PARTS],
    ['a live query of urql', LIVE, ACCEPTS[0] as string],
    ['a subscription', EVENTS, 'text/event-stream'],
    ['a subscription in parts', EVENTS, `${PARTS}, application/json`],
  ])('%s is refused with 503 and Retry-After, and runs nothing', async (_, query, accept) => {
    const { server, runs } = await start()
    await keepsListening(server)
    const before = runs()
    const closed = server.close({ graceMs: 60_000 })
    for (let time = 0; time < 3; time++) {
      const response = await post(`${server.url}/graphql`, { query }, { accept })
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await response.text()).toContain('SERVICE_UNAVAILABLE')
    }
    expect(runs()).toBe(before)
    await closed
  })

  it.each(['/graphql', '/graphql/live'])('an upgrade on %s is refused with 503, and closed', async (path) => {
    const { server } = await start()
    await keepsListening(server)
    const closed = server.close({ graceMs: 60_000 })
    const { port } = new URL(server.url)
    const answer = await new Promise<string>((resolve, reject) => {
      const asking = request({
        port,
        path,
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          'sec-websocket-protocol': 'graphql-transport-ws',
        },
      })
      asking.on('response', ({ statusCode, headers, socket }) => {
        socket.resume().once('close', () => resolve(`${statusCode} ${headers['retry-after']}`))
      })
      asking.on('upgrade', (_response, socket) => {
        socket.destroy()
        resolve('upgraded')
      })
      asking.on('error', reject).end()
    })
    expect(answer).toBe('503 1')
    await closed
  })
})

describe('while changes of other gateways can go unheard', () => {
  it.each([
    ['another gateway is missing', { maxAgeMs: 1_000 }],
    ['the broker is lost', { isInTouch: false }],
  ])('%s: a live query gets no older than an answer of the cache', { timeout: 20_000 }, async (_, state) => {
    const bus = Object.assign(createInvalidationBus(), { maxAgeMs: undefined, isInTouch: true })
    const { server, change, runs } = await start({}, bus)
    const stream = await openStream(server, TEXT, 'text/event-stream')
    await stream.until('plain')
    const before = runs()
    change('changed')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(runs()).toBe(before)
    Object.assign(bus, state)
    await stream.until('changed')
    Object.assign(bus, { maxAgeMs: undefined, isInTouch: true })
  })
})

describe('a live query that is answered once', () => {
  const ask = async (server: GatewayServer, body: unknown, accept: string) =>
    (await post(`${server.url}/graphql`, body, { accept })).json() as Promise<any>

  it.each(['application/json', '*/*', 'application/graphql-response+json', 'text/event-stream;q=0.1, */*'])(
    'says so to a client that accepts %s, from the cache too',
    async (accept) => {
      const { server } = await start({ responseCache: true })
      for (let time = 0; time < 3; time++) {
        const { data, extensions } = await ask(server, { query: TEXT }, accept)
        expect(data).toEqual({ text: 'plain' })
        expect(extensions.liveQuery).toEqual({
          is_live: false,
          reason: expect.stringContaining('event-stream'),
        })
      }
      const off = 'query ($live: Boolean! = false) @live(if: $live) { text }'
      expect(await ask(server, { query: off }, accept)).toEqual({ data: { text: 'plain' } })
      expect(await ask(server, { query: '{ text }' }, accept)).toEqual({ data: { text: 'plain' } })
    },
  )
})

/** Bytes of the heap in use after a collection. */
function heldHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let time = 0; time < 4; time++) collect()
  return process.memoryUsage().heapUsed
}

const COUNT = 1_500
const text = (at: number): string => `${at} ${'x'.repeat(6_000)} ${Math.random()}`

describe.each(['no auth', 'JWT'])('with %s, events leave nothing in memory', (auth) => {
  it.each(
    ['text/event-stream', PARTS, 'socket'].flatMap((kind) => [EVENTS].map((query) => [query, kind] as const)),
  )('%s over %s', { timeout: 60_000 }, async (query, kind) => {
    const issuer = auth === 'JWT' ? await startIssuer() : undefined
    if (issuer) onTestFinished(() => issuer[Symbol.asyncDispose]())
    const started = await start(
      issuer && { auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }], required: true } } },
    )
    const headers: Record<string, string> = issuer ? { authorization: `Bearer ${issuer.token()}` } : {}
    const next = kind === 'socket' ? await socketOf(started.server, query, headers) : undefined
    const stream = next ? undefined : await openStream(started.server, query, kind, headers)
    let at = 0
    const send = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left--) {
        const value = text(++at)
        started.tick(value)
        await (next?.() ?? stream?.until(value.slice(-18)))
      }
    }
    await send(500)
    const before = heldHeap()
    await send(COUNT)
    expect(heldHeap() / before).toBeLessThan(1.05)
  })
})

/** Reads results of a subscription without keeping them, as the raw client does. */
async function socketOf(
  server: GatewayServer,
  query: string,
  headers: Record<string, string>,
): Promise<() => Promise<unknown>> {
  const socket = await connectRawWebSocket(`${server.url}/graphql`, { headers })
  onTestFinished(() => socket[Symbol.asyncDispose]())
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  socket.sendJson({ id: 'a', type: 'subscribe', payload: { query } })
  await new Promise((resolve) => setTimeout(resolve, 200))
  const kept = socket.frames as unknown[]
  return async () => {
    await socket.nextJson()
    kept.length = 0
  }
}
