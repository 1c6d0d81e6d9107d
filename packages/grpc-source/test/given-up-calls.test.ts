import type { Socket } from 'node:net'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { waitUntil } from '@vinyasa/test-kit'
import { createHttp2Transport, type Transport } from '@vinyasa/grpc-transport'
import { describe, expect, it } from 'vitest'
import { disposables } from './harness.ts'
import { rawFrame, rawHeaders, startRawPeer, type RawFrame } from './raw-peer.ts'
import { answer, frame, startWireServer } from './wire-server.ts'

// What a server counts as open: a call that a client gave up is one until the server has read that.

const REQUEST = Buffer.from('ask')
const [DATA, HEADERS, RST, SETTINGS] = [0, 1, 3, 4]
const [ACK, END_STREAM, END_HEADERS] = [1, 1, 4]
const MAX_CONCURRENT_STREAMS = 3
const NOT_FOUND = rawHeaders({ ':status': '200', 'content-type': 'application/grpc', 'grpc-status': '5' })

function transportTo(address: string): Transport {
  return disposables().use(createHttp2Transport({ address, tls: undefined, channel: { maxConnections: 1 } }))
}

function call(transport: Transport, options: { path?: string; signal?: AbortSignal; request?: Buffer } = {}) {
  const { path = '/w.S/Get', signal, request = REQUEST } = options
  return transport
    .unary({ path, metadata: [], timeoutMs: 5_000, signal }, request)
    .then(String, ({ status }: { status: string }) => status)
}

const end = (socket: Socket, stream: number): boolean =>
  socket.write(rawFrame(HEADERS, END_STREAM | END_HEADERS, stream, NOT_FOUND))

/** A server that takes one call at a time. */
async function oneAtATime(handler: (socket: Socket, frame: RawFrame) => void) {
  return startRawPeer(handler, { [MAX_CONCURRENT_STREAMS]: 1 })
}

const isGreeting = ({ type, flags }: RawFrame): boolean => type === SETTINGS && flags !== ACK

describe('the place of a call that was given up', () => {
  it('is taken when the server has read that', async () => {
    let acknowledge = (): unknown => undefined
    const peer = await oneAtATime((socket, given) => {
      if (isGreeting(given)) acknowledge = () => socket.write(rawFrame(SETTINGS, ACK, 0))
      if (isGreeting(given) && given.payload.length > 0) acknowledge()
      if (given.type === DATA && given.stream > 1) end(socket, given.stream)
    })
    const transport = transportTo(peer.address)
    const abort = new AbortController()
    const first = call(transport, { signal: abort.signal })
    await waitUntil(() => peer.of(DATA).length === 1)
    abort.abort()
    const next = call(transport)
    await waitUntil(() => peer.frames.filter(isGreeting).length === 2)
    expect([peer.of(RST).length, peer.of(HEADERS).length]).toEqual([1, 1])
    acknowledge()
    expect(await Promise.all([first, next])).toEqual(['CANCELLED', 'NOT_FOUND'])
  })

  it('is taken after a while where the server acknowledges nothing', async () => {
    const peer = await oneAtATime((socket, { type, stream }) => {
      if (type === DATA && stream > 1) end(socket, stream)
    })
    const transport = transportTo(peer.address)
    const abort = new AbortController()
    void call(transport, { signal: abort.signal })
    await waitUntil(() => peer.of(DATA).length === 1)
    abort.abort()
    expect(await call(transport)).toBe('NOT_FOUND')
  })

  it('is asked for once, however many wait, and not where the server has room', async () => {
    const peer = await startRawPeer(
      (socket, given) => {
        if (isGreeting(given)) socket.write(rawFrame(SETTINGS, ACK, 0))
        if (given.type === DATA && given.stream > 5) end(socket, given.stream)
      },
      { [MAX_CONCURRENT_STREAMS]: 4 },
    )
    const transport = transportTo(peer.address)
    const abort = new AbortController()
    for (let running = 0; running < 3; running++) void call(transport, { signal: abort.signal })
    await waitUntil(() => peer.of(DATA).length === 3)
    abort.abort()
    expect(await call(transport)).toBe('NOT_FOUND')
    expect(peer.frames.filter(isGreeting)).toHaveLength(1)
    expect(await Promise.all(Array.from({ length: 8 }, () => call(transport)))).toEqual(
      Array.from({ length: 8 }, () => 'NOT_FOUND'),
    )
    expect(peer.frames.filter(isGreeting)).toHaveLength(2)
  })

  it('is free before another begins where the server answers before it has the request', async () => {
    const peer = await oneAtATime((socket, given) => {
      if (isGreeting(given)) socket.write(rawFrame(SETTINGS, ACK, 0))
      if (given.type === HEADERS) end(socket, given.stream)
    })
    const transport = transportTo(peer.address)
    const request = Buffer.alloc(200_000)
    const replies = Array.from({ length: 5 }, () => call(transport, { request }))
    expect(await Promise.all(replies)).toEqual(Array.from({ length: 5 }, () => 'NOT_FOUND'))
    const order = peer.frames
      .filter(({ type }) => type === HEADERS || type === RST)
      .map(({ type, stream }) => `${type === RST ? 'reset' : 'begin'} ${stream}`)
    expect(order).toEqual(
      [1, 3, 5, 7, 9].flatMap((stream) => [`begin ${stream}`, `reset ${stream}`]).slice(0, order.length),
    )
  })
})

async function startNode(limit: number): Promise<string> {
  const server = await startWireServer(
    (given) => {
      if (given.headers[':path'] === '/w.S/Get') answer(given, frame('reply'))
    },
    { settings: { maxConcurrentStreams: limit } },
  )
  return disposables().use(server).address
}

async function startGrpcJs(limit: number): Promise<string> {
  const server = new Server({ 'grpc.max_concurrent_streams': limit })
  const asIs = (bytes: Buffer): Buffer => bytes
  const reply = (_: unknown, callback: (error: null, bytes: Buffer) => void): void =>
    callback(null, Buffer.from('reply'))
  server.register('/w.S/Get', reply as never, asIs, asIs, 'unary')
  server.register('/w.S/Never', (() => {}) as never, asIs, asIs, 'unary')
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  disposables().use(() => server.forceShutdown())
  return `127.0.0.1:${port}`
}

describe.each([
  ['node:http2', startNode],
  ['grpc-js', startGrpcJs],
] as const)('a server of %s at its limit', (_, start) => {
  it.each([1, 2, 5])('of %d fails no call for another that was given up', async (limit) => {
    const transport = transportTo(await start(limit))
    for (let round = 0; round < 10; round++) {
      const abort = new AbortController()
      const hanging = Array.from({ length: limit }, () =>
        call(transport, { path: '/w.S/Never', signal: abort.signal }),
      )
      await new Promise((resolve) => setTimeout(resolve, round % 3))
      const replies = Array.from({ length: 2 * limit }, () => call(transport))
      abort.abort()
      expect(await Promise.all(replies)).toEqual(Array.from({ length: 2 * limit }, () => 'reply'))
      expect(new Set(await Promise.all(hanging))).toEqual(new Set(['CANCELLED']))
    }
  })
})
