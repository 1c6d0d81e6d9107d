import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRestBackend, waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished, vi } from 'vitest'
import { rememberBriefly } from '../src/http/probes.ts'
import type { ServeOptions } from '../src/server.ts'
import { post, startGateway } from './support/gateway.ts'
import { useLedger } from './support/ledger.ts'

const BODY = '{"query":"{ turn }"}'
const REQUEST = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`

interface Started {
  readonly endpoint: string
  readonly url: string
  /** Executions that have begun. */
  readonly begun: () => number
  readonly release: () => void
  open(): Promise<{ readonly socket: Socket; readonly received: () => string }>
}

/** A gateway whose field `turn` answers its number once released, and `big` two megabytes. */
async function start(options: ServeOptions = {}, isReleased = false): Promise<Started> {
  let begun = 0
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  if (isReleased) release()
  const { server, endpoint } = await startGateway(
    {
      preset: 'production',
      typeDefs: 'type Query { turn: Int big: String }',
      resolvers: {
        Query: {
          turn: async () => {
            const turn = ++begun
            await released
            return turn
          },
          big: () => 'x'.repeat(20_000_000),
        },
      },
    },
    // All of a test comes from one address.
    { maxAddressShare: 1, ...options },
  )
  onTestFinished(release)
  const { hostname, port } = new URL(server.url)
  return {
    endpoint,
    url: server.url,
    begun: () => begun,
    release,
    async open() {
      const socket = connect(Number(port), hostname).on('error', () => {})
      onTestFinished(() => void socket.destroy())
      let text = ''
      socket.setEncoding('latin1').on('data', (part: string) => (text += part))
      await once(socket, 'connect')
      return { socket, received: () => text }
    },
  }
}

const turnsIn = (text: string): number[] =>
  [...text.matchAll(/"turn":(\d+)/g)].map(([, turn]) => Number(turn))

it('does not read on where 32 requests of a connection have no answer', async () => {
  const { open, begun } = await start()
  const { socket } = await open()
  socket.write(REQUEST.repeat(100_000))
  await waitUntil(() => begun() === 32)
  await sleep(200)
  expect(begun()).toBe(32)
  expect(socket.writableLength).toBeGreaterThan(0)
})

it('executes 32 requests of a connection at once, and answers all in order', async () => {
  const { open, begun, release } = await start()
  const { socket, received } = await open()
  const count = 3000
  socket.write(REQUEST.repeat(count))
  await waitUntil(() => begun() === 32)
  await sleep(50)
  expect(begun()).toBe(32)
  release()
  await waitUntil(() => turnsIn(received()).length === count, { timeoutMs: 20_000 })
  expect(turnsIn(received())).toEqual(Array.from({ length: count }, (_, index) => index + 1))
})

it('answers more than may be without an answer, bodies cut anywhere', async () => {
  const { open, begun } = await start({}, true)
  const { socket, received } = await open()
  const bytes = REQUEST.repeat(40)
  for (let at = 0; at < bytes.length; at += 97) {
    socket.write(bytes.slice(at, at + 97))
    if (at % 5 === 0) await sleep(1)
  }
  await waitUntil(() => turnsIn(received()).length === 40)
  expect(begun()).toBe(40)
})

it('gives other connections their turns while some send thousands of requests', async () => {
  const { endpoint, open, begun } = await start({}, true)
  for (let client = 0; client < 5; client++) (await open()).socket.write(REQUEST.repeat(3000))
  await waitUntil(() => begun() > 32)
  const { data } = (await (await post(endpoint, { query: '{ turn }' })).json()) as { data: { turn: number } }
  // Behind what one turn of each connection begins, and not behind all of it.
  expect(data.turn).toBeLessThan(5 * 3000 * 0.5)
})

it('does not execute what is left of a client that has gone', async () => {
  const { open, begun, release, endpoint } = await start()
  const { socket } = await open()
  socket.write(REQUEST.repeat(1000))
  await waitUntil(() => begun() === 32)
  socket.resetAndDestroy()
  await sleep(100)
  release()
  await post(endpoint, { query: '{ turn }' })
  expect(begun()).toBe(33)
})

it('the places of a client that has gone are free for others', async () => {
  const { open, begun, release, endpoint } = await start({ maxInFlight: 64 })
  const { socket } = await open()
  socket.write(REQUEST.repeat(32))
  await waitUntil(() => begun() === 32)
  socket.resetAndDestroy()
  await sleep(100)
  const others = Array.from({ length: 64 }, () => post(endpoint, { query: '{ turn }' }))
  await waitUntil(() => begun() === 32 + 64)
  release()
  for (const answer of others) expect((await answer).status).toBe(200)
})

/** Of a target as it is, in whatever form (RFC 9112, section 3.2). */
async function statusOf(url: string, target: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url)
  const [response] = (await once(get({ hostname, port, path: target }), 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

it('answers 503 to more requests than may be in flight, not to who asks for its health', async () => {
  const { endpoint, url, begun, release } = await start({ maxInFlight: 3 })
  const inFlight = Array.from({ length: 3 }, () => post(endpoint, { query: '{ turn }' }))
  await waitUntil(() => begun() === 3)
  const refused = await post(endpoint, { query: '{ turn }' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: 'OVERLOADED' } }] })
  for (const target of ['/health/live', '/health/live?from=lb', 'http://a/health/live'])
    expect([target, await statusOf(url, target)]).toEqual([target, 200])
  expect(await statusOf(url, '/health/./live')).toBe(404)
  for (const target of ['//', '//health/live', 'http://', '*', '/graphql?from=/health/live'])
    expect([target, await statusOf(url, target)]).toEqual([target, 503])
  release()
  for (const answer of inFlight) expect((await answer).status).toBe(200)
  expect((await post(endpoint, { query: '{ turn }' })).status).toBe(200)
})

it.each([
  ['after 30 seconds without a byte', Number.POSITIVE_INFINITY, 31_000],
  ['soon if the ledger has no room', 25_000_000, 5000],
])('a client that does not read is cut off %s; one that reads slowly is not', async (_when, budget, ms) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const ledger = useLedger(budget)
  const { open } = await start({ sendTimeoutMs: 30_000 })
  const body = '{"query":"{ big }"}'
  const request = REQUEST.replace(BODY, body).replace(`${BODY.length}`, `${body.length}`)
  const [still, slow] = [await open(), await open()]
  const [stillClosed, slowClosed] = [vi.fn(), vi.fn()]
  still.socket.once('close', stillClosed)
  slow.socket.once('close', slowClosed)
  for (const { socket } of [still, slow]) {
    socket.write(request)
    await once(socket, 'data')
    socket.pause()
  }
  await sleep(200)
  for (let passed = 0; passed < ms; passed += 1000) {
    // A kernel tells of what was read only once it is much.
    const enough = Math.min(slow.received().length + 18_000_000_000 / ms, 20_000_000)
    slow.socket.resume()
    await waitUntil(() => slow.received().length > enough, { everyMs: 1 })
    slow.socket.pause()
    await sleep(20)
    vi.advanceTimersByTime(1000)
  }
  still.socket.resume()
  await waitUntil(() => stillClosed.mock.calls.length === 1)
  expect(still.received().length).toBeLessThan(20_000_000)
  slow.socket.resume()
  await waitUntil(() => slow.received().length > 20_000_000)
  expect(slowClosed).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(ledger.bytes).toBe(0)
})

it('backends are asked for their health once a second, whoever asks', async () => {
  let now = 0
  const ask = vi.fn(async () => true)
  const isReady = rememberBriefly(ask, 1_000, () => now)
  await Promise.all(Array.from({ length: 100 }, isReady))
  now = 999
  await isReady()
  expect(ask).toHaveBeenCalledTimes(1)
  now = 1000
  ask.mockRejectedValueOnce(new Error('down'))
  await Promise.allSettled([isReady(), isReady()])
  expect(ask).toHaveBeenCalledTimes(2)
  now = 2000
  expect(await isReady()).toBe(true)
})

it('a backend hears of one probe where a hundred ask', async () => {
  const backend = await startRestBackend(() => ({ json: 'well' }))
  onTestFinished(() => backend.stop())
  const endpoints = [{ name: 'item', path: '/item' }]
  const rest = { baseUrl: backend.url, healthPath: '/health', required: true, endpoints }
  const { server } = await startGateway({ rest: { shop: rest } })
  const began = performance.now()
  const asked = await Promise.all(Array.from({ length: 100 }, () => fetch(`${server.url}/health/ready`)))
  expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]))
  // The gateway remembers the result for a second; a hundred requests take longer than that only on a busy machine.
  const seconds = Math.floor((performance.now() - began) / 1000)
  expect(backend.requests.length).toBeGreaterThan(0)
  expect(backend.requests.length).toBeLessThanOrEqual(1 + seconds)
})
