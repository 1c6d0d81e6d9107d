import { setTimeout as sleep } from 'node:timers/promises'
import { connectRawWebSocket, createDisposables, startRestBackend, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { reply } from './hostile/frames.ts'
import { startRawGrpc } from './hostile/raw-grpc.ts'
import { recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'

const PROTO = `syntax = "proto3"; package w;
service Items { rpc GetItem(Key) returns (Item); }
message Key { string id = 1; }
message Item { string id = 1; }`

/** Calls that a backend takes at a time. */
const AT_ONCE = 4
const MAX_STREAMS = 3
/** Calls that somebody else may wait for: those that run, and a turn or two. */
const FEW = AT_ONCE + 4

const ANN = { 'x-forwarded-for': '192.0.2.1' }
const BOB = { 'x-forwarded-for': '192.0.2.2' }

interface HeldCall {
  readonly id: string
  readonly answer: () => void
}

const disposables = createDisposables(afterAll)
const held: HeldCall[] = []
let gateway: RunningGateway

beforeAll(async () => {
  const grpc = disposables.use(
    await startRawGrpc({
      settings: { [MAX_STREAMS]: AT_ONCE },
      onRequest: (_, stream, message, send) =>
        void held.push({ id: message.toString('latin1', 2), answer: () => send(reply(stream, message)) }),
    }),
  )
  const rest = disposables.use(
    await startRestBackend(
      ({ rawUrl }) =>
        new Promise((answer) => {
          const id = rawUrl.slice(1)
          held.push({ id, answer: () => answer({ json: { id } }) })
        }),
    ),
  )
  gateway = disposables.use(
    await startGateway({
      untilReady: false,
      config: {
        server: { trustProxy: ['loopback'] },
        grpc: {
          items: {
            endpoint: grpc.address,
            protoText: { 'w.proto': PROTO },
            expose: 'all',
            channel: { maxConnections: 1 },
          },
        },
        rest: {
          things: {
            baseUrl: rest.url,
            maxConnections: AT_ONCE,
            maxRequestsPerOperation: 0,
            healthPath: false,
            endpoints: [
              {
                name: 'getThing',
                path: '/{id}',
                args: { id: 'ID!' },
                responseSchema: { typeName: 'Thing', fields: { id: 'id' } },
              },
            ],
          },
        },
      },
    }),
  )
})

/** Answers one call, and gives what it asked for. */
async function serveNext(): Promise<string> {
  await waitUntil(() => held.length > 0, { awaited: 'a call' })
  const call = held.shift() as HeldCall
  call.answer()
  return call.id
}

const query = (document: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal) =>
  fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: document }),
    ...(signal && { signal }),
  })

async function overSockets(documents: readonly string[], signal: AbortSignal): Promise<void> {
  for (let first = 0; first < documents.length; first += 100) {
    const socket = createDisposables(onTestFinished).use(
      await connectRawWebSocket(`${gateway.url}/graphql/live`, { headers: ANN }),
    )
    signal.addEventListener('abort', () => socket.close())
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    for (const [index, document] of documents.slice(first, first + 100).entries())
      socket.sendJson({ id: `${index}`, type: 'subscribe', payload: { query: document } })
  }
}

/** Ways in which one address asks for many at once; `fieldOf` is one call. */
const WAYS: Readonly<
  Record<string, (fieldOf: (index: number) => string, signal: AbortSignal) => Promise<void>>
> = {
  async '600 requests'(fieldOf, signal) {
    for (let index = 0; index < 600; index++) query(`{ ${fieldOf(index)} }`, ANN, signal).catch(() => {})
  },
  async 'one operation of 900 calls'(fieldOf, signal) {
    const fields = Array.from({ length: 900 }, (_, index) => `a${index}: ${fieldOf(index)}`)
    query(`{ ${fields.join(' ')} }`, ANN, signal).catch(() => {})
  },
  async 'deferred parts of 900 calls'(fieldOf, signal) {
    const fields = Array.from({ length: 900 }, (_, index) => `a${index}: ${fieldOf(index)}`)
    const headers = { ...ANN, accept: 'multipart/mixed' }
    query(`{ __typename ... @defer { ${fields.join(' ')} } }`, headers, signal).catch(() => {})
  },
  '300 operations of 3 sockets': (fieldOf, signal) =>
    overSockets(
      Array.from({ length: 300 }, (_, index) => `{ ${fieldOf(index)} }`),
      signal,
    ),
}

describe.each([
  ['gRPC', 'getItem'],
  ['REST', 'getThing'],
])('one address fills what waits for a %s backend', (area, field) => {
  const fieldOf = (id: string): string => `${field}(id: "${id}") { id }`

  it.each(Object.keys(WAYS))('by %s: another waits a few turns', async (way) => {
    const attack = new AbortController()
    onTestFinished(async () => {
      attack.abort()
      // What had not ended by then: until nothing more comes of it.
      do {
        for (const { answer } of held.splice(0)) answer()
        await sleep(300)
      } while (held.length > 0)
    })
    await WAYS[way]?.((index) => fieldOf(`ann-${index}`), attack.signal)
    await waitUntil(() => held.length === AT_ONCE, { awaited: 'a backend that has all it takes' })
    await sleep(1_000)
    const asked = query(`{ ${fieldOf('bob')} }`, BOB)
    // Not everything has come in yet when it is asked.
    await sleep(200)
    let turns = 0
    for (let id = ''; id !== 'bob' && turns < 250; turns++) id = await serveNext()
    recordFigure({
      area,
      fault: `${way} of one address wait for a backend`,
      asked: `another's call after ${FEW} others at most`,
      seen: turns < 250 ? `after ${turns - 1}` : 'after 250 not yet',
    })
    expect(turns).toBeLessThanOrEqual(FEW + 1)
    expect(await (await asked).json()).toEqual({ data: { [field]: { id: 'bob' } } })
  })
})
