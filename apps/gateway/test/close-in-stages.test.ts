import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createFakeClock, waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { linger, MAX_LINGER_BYTES, MAX_LINGER_MS } from '../src/connections/linger.ts'
import type { ServeOptions } from '../src/server.ts'
import { post, startGateway } from './support/gateway.ts'

const PIECE = 'x'.repeat(100_000)
const CLOSE = 'Connection: close\r\n'

function postOf(length: number, headers = '', path = '/graphql'): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
}

const HANG = '{"query":"{ hang }"}'
const HANGING = postOf(HANG.length) + HANG
/** So much of it is announced; the rest comes behind the answer. */
const BEGUN = PIECE.slice(0, 1000)

/** A gateway whose field `hang` never answers. */
async function start(options: ServeOptions = {}) {
  const seen = { begun: 0, cancelled: 0 }
  const { server, endpoint } = await startGateway(
    {
      preset: 'production',
      typeDefs: 'type Query { hello: String hang: String }',
      resolvers: {
        Query: {
          hello: () => 'world',
          hang: (_: unknown, _args: unknown, { request }: { request: Request }) =>
            new Promise((resolve) => {
              seen.begun++
              request.signal.addEventListener('abort', () => {
                seen.cancelled++
                resolve('cancelled')
              })
            }),
        },
      },
    },
    { maxAddressShare: 1, ...options },
  )
  return { seen, endpoint, open: () => open(Number(new URL(server.url).port)) }
}

/** A client that keeps its side open until it ends it. */
async function open(port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  let [text, failed] = ['', '']
  socket.on('error', ({ code }: NodeJS.ErrnoException) => (failed = code ?? 'unknown'))
  socket.setEncoding('latin1').on('data', (part: string) => (text += part))
  await once(socket, 'connect')
  return { socket, received: () => text, failed: () => failed }
}

/** Until the kernels have taken it; of a connection that is reset, until then. */
async function send(socket: Socket, bytes: string): Promise<void> {
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
}

describe('a client that goes on sending has its answer and an ordinary end', () => {
  it.each([
    ['a head that cannot be read', postOf(2_000_000, 'Content-Length: 3\r\n') + BEGUN, '400', {}],
    ['a head that is too large', `GET / HTTP/1.1\r\nHost: x\r\ny: ${PIECE}`, '431', {}],
    ['a head that takes too long', 'GET / HTTP/1.1\r\nHost: x\r\n', '408', { headersTimeoutMs: 100 }],
    ['a body that takes too long', postOf(2000), '408', { headersTimeoutMs: 100, requestTimeoutMs: 100 }],
    ['what is no request, behind one that waits', HANGING + BEGUN, '400', {}],
    ['what is no request, behind many that wait', HANGING.repeat(100) + BEGUN, '400', {}],
    ['what is no request, behind an answer', `HEAD / HTTP/1.1\r\nHost: x\r\n\r\n${BEGUN}`, '[24]\\d\\d', {}],
    ['a body that is too large, of its last request', postOf(2_000_000, CLOSE) + BEGUN, '413', {}],
    ['a body for nobody, of its last request', postOf(2_000_000, CLOSE, '/nowhere') + BEGUN, '404', {}],
    [
      'an expectation, of its last request',
      postOf(2_000_000, `${CLOSE}Expect: 200-ok\r\n`) + BEGUN,
      '417',
      {},
    ],
    ['more than is served, of its last request', postOf(2_000_000, CLOSE) + BEGUN, '503', { maxInFlight: 1 }],
  ])('after %s', async (_, bytes, status, options) => {
    const { open, endpoint, seen } = await start(options)
    if ('maxInFlight' in options) {
      void post(endpoint, { query: '{ hang }' }).catch(() => {})
      await waitUntil(() => seen.begun === 1)
    }
    const { socket, received, failed } = await open()
    const ended = once(socket, 'end')
    await send(socket, bytes)
    await ended
    expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    for (let piece = 0; piece < 20; piece++) await send(socket, PIECE)
    socket.end()
    await once(socket, 'close')
    expect(failed()).toBe('')
  })

  it.each([1, 100])('and what else it asked for, %i times, is cancelled with its end', async (times) => {
    const { open, seen } = await start()
    const { socket } = await open()
    const ended = once(socket, 'end')
    await send(socket, HANGING.repeat(times) + BEGUN)
    await ended
    await send(socket, PIECE)
    socket.end()
    await waitUntil(() => seen.cancelled === seen.begun, { timeoutMs: MAX_LINGER_MS / 2 })
    expect(seen.begun).toBeGreaterThan(0)
  })
})

it('who does not end is cut off behind 16 MiB', async () => {
  const { open } = await start()
  const { socket, failed } = await open()
  const ended = once(socket, 'end')
  await send(socket, BEGUN)
  await ended
  while (!failed()) await send(socket, PIECE)
  expect(socket.bytesWritten).toBeGreaterThan(MAX_LINGER_BYTES)
  // What the kernels hold of it.
  expect(socket.bytesWritten).toBeLessThan(5 * MAX_LINGER_BYTES)
})

it('an answer that does not begin ends its connection at once, although more is being sent', async () => {
  const { open, seen } = await start({ answerTimeoutMs: 100 })
  const { socket, received } = await open()
  await send(socket, HANGING + postOf(2000) + BEGUN)
  await waitUntil(() => seen.cancelled === 1, { timeoutMs: MAX_LINGER_MS / 2 })
  expect(received()).toMatch(/^HTTP\/1.1 504 /)
})

describe('a connection that lingers', () => {
  async function lingering() {
    const clock = createFakeClock()
    const sockets: Socket[] = []
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket.on('error', () => {}))
      linger(socket, clock)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const client = await open((server.address() as AddressInfo).port)
    await waitUntil(() => clock.pending() === 1)
    return { client, clock, socket: sockets[0] as Socket }
  }

  it('is closed after 5 s, whatever its client sends', async () => {
    const { client, clock, socket } = await lingering()
    for (let ms = 0; ms < MAX_LINGER_MS; ms += 100) {
      expect(socket.destroyed).toBe(false)
      await send(client.socket, 'x')
      await clock.advance(100)
    }
    expect(socket.destroyed).toBe(true)
  })

  it('is closed with its client’s end, and nothing of it is left', async () => {
    const { client, clock, socket } = await lingering()
    client.socket.end()
    await once(client.socket, 'close')
    await waitUntil(() => socket.closed)
    expect([clock.pending(), client.failed()]).toEqual([0, ''])
  })
})
