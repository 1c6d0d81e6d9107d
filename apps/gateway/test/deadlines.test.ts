import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRawWebSocket, waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { connectionsPossible } from '../src/connections/connection-limit.ts'
import { createLogger } from '../src/logging/logger.ts'
import { serverSettings } from '../src/presets.ts'
import type { ServeOptions } from '../src/server.ts'
import { post, startGateway } from './support/gateway.ts'

const requestOf = (query: string): string => {
  const body = JSON.stringify({ query })
  return `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

const HEAD = 'POST /graphql HTTP/1.1\r\nHost: x\r\n'
const BODY = requestOf('{ hello }').slice(0, -5)

const ITEM = { name: 'item', path: '/item' }
const SHOP = { baseUrl: 'http://127.0.0.1:1', endpoints: [ITEM] }
const LATE_SHOP =
  'rest.shop: calls to this source can take up to 90000 ms, but server.answerTimeoutMs ends requests whose response has not started after 60000 ms; raise server.answerTimeoutMs, or lower the timeouts of the source'

interface Open {
  readonly socket: Socket
  readonly received: () => string
  readonly isClosed: () => boolean
}

/** A gateway whose field `hang` answers when it is released, and counts those that were cancelled. */
async function start(options: ServeOptions = {}) {
  const seen = { begun: 0, cancelled: 0 }
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const lines: string[] = []
  const logger = await createLogger({
    format: 'json',
    destination: new Writable({
      write(line, _encoding, done) {
        lines.push(String(line))
        done()
      },
    }),
  })
  const { server, endpoint } = await startGateway(
    {
      preset: 'production',
      liveQuery: { defaults: { enabled: true } },
      typeDefs: 'type Query { hello: String hang: String } type Subscription { ticks: Int, silence: Int }',
      resolvers: {
        Query: {
          hello: () => 'world',
          async hang(_: unknown, _args: unknown, { request }: { request: Request }) {
            seen.begun++
            request.signal.addEventListener('abort', () => seen.cancelled++)
            await released
            return 'released'
          },
        },
        Subscription: {
          silence: {
            async *subscribe() {
              await released
              yield { silence: 1 }
            },
          },
          ticks: {
            async *subscribe() {
              yield { ticks: 1 }
              await released
            },
          },
        },
      },
    },
    { ...options, logger },
  )
  onTestFinished(release)
  const { hostname, port } = new URL(server.url)
  async function open(localAddress = '127.0.0.1'): Promise<Open> {
    const socket = connect({ port: Number(port), host: hostname, localAddress }).on('error', () => {})
    onTestFinished(() => void socket.destroy())
    let [text, isClosed] = ['', false]
    socket.setEncoding('latin1').on('data', (part: string) => (text += part))
    socket.on('close', () => (isClosed = true))
    await once(socket, 'connect')
    return { socket, received: () => text, isClosed: () => isClosed }
  }
  return { endpoint, server, seen, release, open, lines, port: Number(port) }
}

describe('an answer that does not begin', () => {
  it('is 504, what it began is cancelled, and its place is free', async () => {
    const { endpoint, open, seen, lines } = await start({ answerTimeoutMs: 200, maxInFlight: 2 })
    const [one, other] = [await open(), await open('127.0.0.2')]
    for (const { socket } of [one, other]) socket.write(requestOf('{ hang }'))
    await waitUntil(() => seen.begun === 2)
    expect((await post(endpoint, { query: '{ hello }' })).status).toBe(503)
    await waitUntil(() => one.isClosed() && other.isClosed())
    expect(one.received()).toMatch(/^HTTP\/1.1 504 .*ANSWER_TIMEOUT/s)
    await waitUntil(() => seen.cancelled === 2)
    expect((await post(endpoint, { query: '{ hello }' })).status).toBe(200)
    await waitUntil(() => lines.some((line) => /"level":40,.*"ended":\d,"answerTimeoutMs":200/.test(line)))
  })

  it('ends its connection where others wait behind it, before it is whole half an answer too', async () => {
    const { open, seen, endpoint } = await start({ answerTimeoutMs: 200 })
    const { socket, received, isClosed } = await open()
    socket.write(requestOf('{ hello }') + requestOf('{ hang }').repeat(5))
    await waitUntil(isClosed)
    expect(received()).toMatch(/^HTTP\/1.1 200 .*world.*HTTP\/1.1 504 /s)
    await waitUntil(() => seen.cancelled === seen.begun)
    expect((await post(endpoint, { query: '{ hello }' })).status).toBe(200)
  })

  it('is 504 too where two of a connection hang', async () => {
    const { open } = await start({ answerTimeoutMs: 200 })
    for (let times = 0; times < 5; times++) {
      const { socket, received, isClosed } = await open()
      socket.write(requestOf('{ hang }').repeat(3))
      await waitUntil(isClosed)
      expect(received()).toMatch(/^HTTP\/1.1 504 /)
    }
  })

  it('is not one that streams, nor one whose request still arrives', async () => {
    const { open, endpoint } = await start({ answerTimeoutMs: 100 })
    const stream = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { ticks }' }),
    })
    const slow = await open()
    const text = requestOf('{ hello }')
    slow.socket.write(text.slice(0, -5))
    await sleep(500)
    expect(slow.isClosed()).toBe(false)
    slow.socket.write(text.slice(-5))
    await waitUntil(() => slow.received().includes('world'))
    expect(stream.status).toBe(200)
    const reader = stream.body!.getReader()
    expect((await reader.read()).done).toBe(false)
    await reader.cancel()
  })

  it.each(['subscription { silence }', 'query @live { hang }'])(
    'is not %s, whose first event takes longer: its head is sent',
    async (query) => {
      const { endpoint, release } = await start({ answerTimeoutMs: 100 })
      const stream = await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query }),
      })
      expect(stream.status).toBe(200)
      await sleep(500)
      release()
      let text = ''
      for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk
        if (text.includes('"data":')) break
      }
      expect(text).toMatch(/"silence":1|"hang":"released"/)
    },
  )

  it.each<[GatewayConfig, readonly string[]]>([
    [{ rest: { shop: { ...SHOP, timeoutMs: 90_000 } } }, [LATE_SHOP]],
    [{ rest: { shop: { ...SHOP, endpoints: [{ ...ITEM, timeoutMs: 90_000 }] } } }, [LATE_SHOP]],
    [{ rest: { shop: { ...SHOP, timeoutMs: 90_000 } }, server: { answerTimeoutMs: 120_000 } }, []],
    [{ rest: { shop: { ...SHOP, timeoutMs: 90_000 } }, server: { answerTimeoutMs: 0 } }, []],
    [{ rest: { shop: SHOP } }, []],
  ])('ends the calls of %j', async (config, notes) => {
    const { gateway } = await startGateway(config)
    expect(gateway.notes.map(({ note }) => note)).toEqual(notes)
  })

  it.each([
    ['a head that does not arrive', HEAD, { headersTimeoutMs: 100 }],
    ['a body that does not arrive', BODY, { headersTimeoutMs: 100, requestTimeoutMs: 200 }],
    ['a head in the time of all of it', HEAD, { requestTimeoutMs: 200 }],
    ['a head that may take longer than all of it', HEAD, { headersTimeoutMs: 20_000, requestTimeoutMs: 200 }],
    ['a body that has the time of all alone', BODY, { headersTimeoutMs: 0, requestTimeoutMs: 200 }],
  ])('%s is 408', async (_, text, options) => {
    const { open } = await start(options)
    const { socket, received, isClosed } = await open()
    socket.write(text)
    await waitUntil(isClosed)
    expect(received()).toMatch(/^HTTP\/1.1 408 /)
  })
})

describe('the share of one address', () => {
  it('is half of what may be in flight; others have the rest, and it has its own again', async () => {
    const { open, seen, release } = await start({ maxInFlight: 20 })
    const mine = await Promise.all(Array.from({ length: 40 }, () => open('127.0.0.1')))
    for (const { socket } of mine) socket.write(requestOf('{ hang }'))
    const refused = () => mine.filter(({ received }) => received().startsWith('HTTP/1.1 429 '))
    await waitUntil(() => refused().length === 30 && seen.begun === 10)
    expect(refused()[0]?.received()).toMatch(/retry-after: 1.*TOO_MANY_AT_ONCE/is)
    const other = await open('127.0.0.2')
    other.socket.write(requestOf('{ hello }'))
    await waitUntil(() => other.received().includes('world'))
    release()
    await waitUntil(() => mine.filter(({ received }) => received().includes('released')).length === 10)
    mine[0]?.socket.write(requestOf('{ hello }'))
    await waitUntil(() => mine[0]?.received().includes('world'))
  })

  it.each([
    ['counts by the header of a trusted proxy', true, [true, false]],
    ['counts by the connection without one', false, [true, true]],
  ])('%s', async (_, trustProxy, expected) => {
    const { endpoint, seen } = await start({ maxInFlight: 8, trustProxy })
    const ask = (query: string, address: string) =>
      post(endpoint, { query }, { 'x-forwarded-for': address }).catch(() => undefined)
    for (let held = 0; held < 4; held++) void ask('{ hang }', '10.0.0.1')
    await waitUntil(() => seen.begun === 4)
    const [same, another] = [await ask('{ hello }', '10.0.0.1'), await ask('{ hello }', '10.0.0.2')]
    expect([same?.status === 429, another?.status === 429]).toEqual(expected)
  })

  it('is nobody’s limit where it is 1', async () => {
    const { endpoint, seen } = await start({ maxInFlight: 8, maxAddressShare: 1 })
    for (let held = 0; held < 7; held++) void post(endpoint, { query: '{ hang }' }).catch(() => {})
    await waitUntil(() => seen.begun === 7)
    expect((await post(endpoint, { query: '{ hello }' })).status).toBe(200)
  })

  it('is half of the connections, WebSockets and those that say nothing alike', async () => {
    const { open, lines } = await start({ maxConnections: 10 })
    const mine = await Promise.all(Array.from({ length: 30 }, () => open('127.0.0.1')))
    await waitUntil(() => mine.filter(({ isClosed }) => isClosed()).length === 25)
    const other = await open('127.0.0.2')
    other.socket.write(requestOf('{ hello }'))
    await waitUntil(() => other.received().includes('world'))
    await waitUntil(() => lines.some((line) => line.includes('"refused":25')))
    expect(mine.filter(({ isClosed }) => isClosed())).toHaveLength(25)
  })
})

describe('where all connections are open', () => {
  it('those are closed that have been idle for longest; one with a request, or a WebSocket, is not', async () => {
    const { open, server, seen, lines } = await start({ maxConnections: 4, maxAddressShare: 1 })
    const webSocket = await connectRawWebSocket(`${server.url}/graphql`)
    onTestFinished(() => webSocket[Symbol.asyncDispose]())
    let isSocketClosed = false
    void webSocket.closed.then(() => (isSocketClosed = true))
    const busy = await open()
    busy.socket.write(requestOf('{ hang }'))
    await waitUntil(() => seen.begun === 1)
    const [first, second] = [await open(), await open()]
    // The first has been used since.
    first.socket.write(requestOf('{ hello }'))
    await waitUntil(() => first.received().includes('world'))
    const third = await open()
    await waitUntil(second.isClosed)
    expect(first.isClosed()).toBe(false)
    third.socket.write(requestOf('{ hello }'))
    await waitUntil(() => third.received().includes('world'))
    for (let more = 0; more < 50; more++) await open()
    await waitUntil(() => first.isClosed() && third.isClosed())
    expect([busy.isClosed(), isSocketClosed]).toEqual([false, false])
    await waitUntil(() => lines.some((line) => /"closed":\d+,"maxConnections":4/.test(line)))
    // One line for all of them.
    expect(lines.filter((line) => line.includes('"maxConnections":4')).length).toBeLessThan(3)
  })

  it('a new one is closed where all others have requests', async () => {
    const { open, seen } = await start({ maxConnections: 2, maxAddressShare: 1 })
    const held = [await open(), await open()]
    for (const { socket } of held) socket.write(requestOf('{ hang }'))
    await waitUntil(() => seen.begun === 2)
    await waitUntil((await open()).isClosed)
    expect(held.map(({ isClosed }) => isClosed())).toEqual([false, false])
  })
})

describe('connections that are possible', () => {
  it.each([
    ['Max open files            256                  4096                 files', 192],
    ['Max cpu time              unlimited            unlimited            seconds', undefined],
    ['', undefined],
    ['Max open files            unlimited            unlimited            files', undefined],
  ])('%s', (limits, expected) => expect(connectionsPossible(limits)).toBe(expected))
})

describe('idle connections', () => {
  it('are kept 75 s in production, or as long as the config says', () => {
    expect(serverSettings({ preset: 'production' }).keepAliveTimeoutMs).toBe(75_000)
    expect(serverSettings({}).keepAliveTimeoutMs).toBeUndefined()
    expect(
      serverSettings({ preset: 'production', server: { keepAliveTimeoutMs: 1 } }).keepAliveTimeoutMs,
    ).toBe(1)
  })

  it('are kept for longer than clients are told, and then closed', async () => {
    const { open } = await start({ keepAliveTimeoutMs: 200 })
    const { socket, received, isClosed } = await open()
    socket.write(requestOf('{ hello }'))
    await waitUntil(() => received().includes('world'))
    // In the moment that they were told, and after it.
    for (const wait of [200, 210, 400]) {
      const before = received().length
      await sleep(wait)
      socket.write(requestOf('{ hello }'))
      await waitUntil(() => received().length > before)
    }
    await waitUntil(isClosed)
    expect(received().match(/world/g)).toHaveLength(4)
  })

  it('are told their time', async () => {
    const { port } = await start({ keepAliveTimeoutMs: 75_000 })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const request = httpRequest({ port, path: '/health/live', agent }).end()
    const [response] = await once(request, 'response')
    response.resume()
    expect(response.headers['keep-alive']).toBe('timeout=75')
  })
})
