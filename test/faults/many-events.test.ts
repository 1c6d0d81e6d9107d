import { setMaxListeners } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOKEN_ISSUER, TOKEN_SECRET, tokenOf } from '../model/code-side.ts'
import { frame, open, openWebSocket, post } from './attacks/wire.ts'
import { recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { HEAP_PROBE, heapOf } from './support/heap.ts'

const EVENTS = Number(process.env['EVENTS'] ?? 100_000)
/** The heap is compared from here on: by then code is compiled and caches are full. */
const EARLY = EVENTS / 5
const LIVE_QUERIES = 200
const MOST_ON_A_SOCKET = 100
const TIMEOUT_MS = 600_000
const PROTO = `syntax = "proto3"; package e;
service Events { rpc Watch(WatchRequest) returns (stream Event); }
message WatchRequest {}
message Event { string id = 1; string filler = 2; }`

const disposables = createDisposables(afterAll)
const never = new AbortController().signal
setMaxListeners(0, never)
let grpcPort = 0
let restPort = 0
/** Resolves when the backend may send more than the early events. */
let goOn = createGate()

function createGate(): { readonly promise: Promise<void>; open(): void } {
  let open = (): void => {}
  const promise = new Promise<void>((resolve) => (open = resolve))
  return { promise, open: () => open() }
}

function eventOf(n: number): Buffer {
  const [id, filler] = [Buffer.from(`event ${n}`), Buffer.from(`${n} `.repeat(400).slice(0, 2_000))]
  const lengthOf = (bytes: Buffer): number[] => [(bytes.length & 0x7f) | 0x80, bytes.length >> 7]
  const message = [Buffer.of(0x0a, ...lengthOf(id)), id, Buffer.of(0x12, ...lengthOf(filler)), filler]
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(
    message.reduce((sum, part) => sum + part.length, 0),
    1,
  )
  return Buffer.concat([prefix, ...message])
}

async function sendEvents(stream: ServerHttp2Stream): Promise<void> {
  stream.on('error', () => {})
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' })
  for (let n = 0; n < EVENTS && !stream.destroyed; n++) {
    if (n === EARLY) await goOn.promise
    await new Promise((resolve) => stream.write(eventOf(n), resolve))
  }
}

beforeAll(async () => {
  const grpc = createServer().on('stream', (stream) => void sendEvents(stream))
  await new Promise<void>((resolve) => grpc.listen(0, '127.0.0.1', resolve))
  let n = 0
  const rest = createHttpServer((_, response) =>
    response
      .setHeader('content-type', 'application/json')
      .end(`{"id":"${n++}","filler":"${'x'.repeat(2_000)}"}`),
  )
  await new Promise<void>((resolve) => rest.listen(0, '127.0.0.1', resolve))
  disposables.use({ close: () => void grpc.close() })
  disposables.use({ close: () => void rest.close() })
  grpcPort = (grpc.address() as AddressInfo).port
  restPort = (rest.address() as AddressInfo).port
})

async function openGateway(hasTokens: boolean): Promise<RunningGateway> {
  const issuer = { issuer: TOKEN_ISSUER, audience: 'model', secret: TOKEN_SECRET }
  return startGateway({
    untilReady: false,
    env: { NODE_OPTIONS: HEAP_PROBE.join(' ') },
    config: {
      ...(hasTokens && { auth: { jwt: { issuers: [issuer] } } }),
      liveQuery: {
        // These clients answer no pings.
        sockets: { keepAliveMs: TIMEOUT_MS },
        fields: { thing: { enabled: true, strategy: 'POLLING', pollIntervalMs: 50, throttleMs: 0 } },
      },
      grpc: {
        events: {
          endpoint: `127.0.0.1:${grpcPort}`,
          protoText: { 'e.proto': PROTO },
          methods: { 'e.Events.Watch': { schema: { name: 'watch', type: 'SUBSCRIPTION' } } },
        },
      },
      rest: {
        things: {
          baseUrl: `http://127.0.0.1:${restPort}`,
          endpoints: [
            {
              name: 'thing',
              path: '/{n}',
              args: { n: 'Int!' },
              responseSchema: { typeName: 'Thing', fields: { id: 'id!', filler: 'string' } },
            },
          ],
        },
      },
    },
  })
}

const SUBSCRIPTION = [{ query: 'subscription { watch { id filler } }' }]
const LIVE = Array.from({ length: LIVE_QUERIES }, (_, n) => ({
  query: 'query ($n: Int!) @live { thing(n: $n) { id filler } }',
  variables: { n },
}))

type Target = { readonly url: string; readonly host: string; readonly port: number }
/** Opens connections, and returns them. */
type Open = (target: Target, operations: readonly object[], token: string | undefined) => Promise<Socket[]>

const byRequest =
  (accept: string): Open =>
  async (target, operations, token) =>
    Promise.all(
      operations.map(async (operation) => {
        const socket = await open(target, never)
        const authorization = token ? `Authorization: Bearer ${token}\r\n` : ''
        const headers = `Accept: ${accept}\r\n${authorization}x-graphql-csrf: 1\r\n`
        socket.write(post(JSON.stringify(operation), { headers }))
        return socket
      }),
    )

const bySocket: Open = async (target, operations, token) => {
  const options = token ? { payload: { authorization: `Bearer ${token}` } } : {}
  const sockets: Socket[] = []
  for (const [id, payload] of operations.entries()) {
    if (id % MOST_ON_A_SOCKET === 0) sockets.push(await openWebSocket(target, never, options))
    sockets.at(-1)!.write(frame(JSON.stringify({ id: String(id), type: 'subscribe', payload })))
  }
  return sockets
}

const MULTIPART = 'multipart/mixed;subscriptionSpec=1.0, application/json'
const PART = 'Content-Type: application/json'
const STREAMS: readonly (readonly [name: string, open: Open, operations: readonly object[], mark: string])[] =
  [
    ['a subscription over SSE', byRequest('text/event-stream'), SUBSCRIPTION, 'event: next'],
    ['a subscription over multipart', byRequest(MULTIPART), SUBSCRIPTION, PART],
    ['a subscription on a socket', bySocket, SUBSCRIPTION, '"type":"next"'],
    ['live queries over SSE', byRequest('text/event-stream'), LIVE, 'event: next'],
    ['live queries over multipart', byRequest(MULTIPART), LIVE, PART],
    ['live queries on a socket', bySocket, LIVE, '"type":"next"'],
  ]

/** Counts a mark in what a socket sends, also where it is cut. */
function counted(socket: Socket, mark: string): () => number {
  let [count, rest] = [0, '']
  socket.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString('latin1')).split(mark)
    count += parts.length - 1
    rest = parts.at(-1)!.slice(-(mark.length - 1))
  })
  return () => count
}

describe.each([false, true])('with tokens: %s', (hasTokens) => {
  it.each(STREAMS)(
    `the heap stays after ${EVENTS} events of %s`,
    async (name, openStream, operations, mark) => {
      await using gateway = await openGateway(hasTokens)
      const { hostname: host, port } = new URL(gateway.url)
      const target = { url: gateway.url, host, port: Number(port) }
      goOn = createGate()
      const sockets = await openStream(target, operations, hasTokens ? tokenOf('a') : undefined)
      const counts = sockets.map((socket) => counted(socket, mark))
      const arrived = (): number => counts.reduce((sum, count) => sum + count(), 0)
      const until = (least: number): Promise<unknown> =>
        waitUntil(() => arrived() >= least, { timeoutMs: TIMEOUT_MS / 2, awaited: `${least} events` })
      await until(EARLY)
      const early = (await heapOf(gateway.process)).heapMb
      goOn.open()
      await until(EVENTS)
      const late = (await heapOf(gateway.process)).heapMb
      for (const socket of sockets) socket.destroy()
      recordFigure({
        area: 'memory',
        fault: `${EVENTS} events of ${name}${hasTokens ? ', with tokens' : ''}`,
        asked: `heap at most 5 % more than after ${EARLY}`,
        seen: `${early.toFixed(1)} MB, then ${late.toFixed(1)} MB`,
      })
      expect(late).toBeLessThan(1.05 * early)
    },
    TIMEOUT_MS,
  )
})
