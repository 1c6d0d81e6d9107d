import { setMaxListeners } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createDisposables, createRandom, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { drained, frame, open, openWebSocket, pause, post } from './attacks/wire.ts'
import { END_STREAM, headers, OK } from './hostile/frames.ts'
import { endlessMessages, fillerMessage, packedMessage } from './hostile/large-replies.ts'
import { startRawGrpc, type RawGrpc } from './hostile/raw-grpc.ts'
import { recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'

const SEED = Number(process.env['FAULTS_SEED'] ?? 1)
/** What every change is held to: the endings that need no bound of time. */
const QUICK = process.env['FAULTS_QUICK'] === '1'
const QUICK_ENDINGS: ReadonlySet<string> = new Set(['its client leaves', 'its backend leaves', 'it ends'])
const LEAVING = QUICK ? 100 : 500
const PROTO = `syntax = "proto3"; package h;
service Hostile { rpc Ask(AskRequest) returns (Reply); rpc Watch(AskRequest) returns (stream Reply); }
message AskRequest { int32 n = 1; }
message Reply { string id = 1; string filler = 2; }`

/** Of the ledger: what a holder of these tests takes at least, and what others (a scrape) may take. */
const HELD_BYTES = 40_000
const NOTHING_BYTES = 1_000
const TIMEOUT_MS = 1_500

const disposables = createDisposables(afterAll)
const never = new AbortController().signal
setMaxListeners(0, never)
/** Connections of the REST backend whose reply has begun. */
const replying = new Set<Socket>()
let grpc: RawGrpc
let gateway: RunningGateway
let target: { readonly url: string; readonly host: string; readonly port: number }
let n = 0

const LONG = `{"id":"1","filler":"${'a'.repeat(900_000)}"}`
const PACKED = gzipSync(`{"id":"1","filler":[${'"aaaaaaaa",'.repeat(200_000)}""]}`, { level: 0 })

/** Begins a reply, and ends it when it is told so. */
function beginReply(socket: Socket, how: string): void {
  const body = how === 'packed' ? PACKED : Buffer.from(LONG)
  const encoding = how === 'packed' ? 'Content-Encoding: gzip\r\n' : ''
  const length = how === 'large' ? 50_000_000 : body.length
  socket.write(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${encoding}Content-Length: ${length}\r\n\r\n`,
  )
  socket.write(body.subarray(0, how === 'whole' ? undefined : -1))
  if (how === 'whole') return
  replying.add(socket.once('close', () => replying.delete(socket)))
  socket.once('finish-reply', () => socket.write(body.subarray(-1)))
}

beforeAll(async () => {
  const rest = createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (!text.includes('\r\n\r\n')) return
      const [, how = ''] = /^GET \/(\w+)/.exec(text) ?? []
      text = ''
      if (how !== 'small') beginReply(socket, how)
      else
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"id":"1"}',
        )
    })
  })
  await new Promise<void>((resolve) => rest.listen(0, '127.0.0.1', resolve))
  disposables.use({ close: () => rest.close() })
  grpc = disposables.use(
    await startRawGrpc({
      onRequest(_, stream, message, send) {
        if (message.length === 0) return
        if (message[1] === 1) send(endlessMessages(stream, fillerMessage(900_000), 1).slice(0, -1))
        else if (message[1] === 2) send(packedMessage(stream))
        else send([...endlessMessages(stream, fillerMessage(100_000), 3), headers(END_STREAM, stream, OK)])
      },
    }),
  )
  const responseSchema = { typeName: 'Thing', fields: { id: 'id!', filler: 'json' } }
  gateway = disposables.use(
    await startGateway({
      untilReady: false,
      config: {
        metrics: true,
        server: { requestTimeoutMs: TIMEOUT_MS, headersTimeoutMs: TIMEOUT_MS, sendTimeoutMs: TIMEOUT_MS },
        liveQuery: {
          sockets: { keepAliveMs: TIMEOUT_MS },
          fields: { thing: { enabled: true, pollIntervalMs: 60_000 } },
        },
        grpc: {
          hostile: {
            endpoint: grpc.address,
            protoText: { 'h.proto': PROTO },
            methods: {
              'h.Hostile.Ask': { schema: { name: 'ask' }, timeoutMs: TIMEOUT_MS },
              'h.Hostile.Watch': { schema: { name: 'watch', type: 'SUBSCRIPTION' } },
            },
          },
        },
        rest: {
          hostile: {
            baseUrl: `http://127.0.0.1:${(rest.address() as AddressInfo).port}`,
            timeoutMs: TIMEOUT_MS,
            noRetry: true,
            endpoints: [
              { name: 'thing', path: '/{how}/{n}', args: { how: 'String!', n: 'Int!' }, responseSchema },
            ],
          },
        },
      },
    }),
  )
  const { hostname: host, port } = new URL(gateway.url)
  target = { url: gateway.url, host, port: Number(port) }
})

async function heldBytes(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  return Number(/^vinyasa_held_bytes (\S+)$/m.exec(text)?.[1])
}

const untilHeld = (leastBytes = HELD_BYTES): Promise<unknown> =>
  waitUntil(async () => (await heldBytes()) > leastBytes, { timeoutMs: 5_000, awaited: 'something held' })
const untilNothing = (timeoutMs = 10_000): Promise<unknown> =>
  waitUntil(async () => (await heldBytes()) < NOTHING_BYTES, { timeoutMs, awaited: 'nothing held' })

/** `how` is the reply of the backend. */
const thing = (how: string): string =>
  JSON.stringify({
    query: `query ($n: Int!) { thing(how: "${how}", n: $n) { id filler } }`,
    variables: { n: n++ },
  })
const ask = (how: number): string =>
  JSON.stringify({ query: 'query ($n: Int!) { ask(n: $n) { id filler } }', variables: { n: how } })
const watch = (how: number): string =>
  JSON.stringify({ query: 'subscription ($n: Int!) { watch(n: $n) { id filler } }', variables: { n: how } })
const LIVE = 'query ($n: Int!, $how: String!) @live { thing(how: $how, n: $n) { id } }'
const MULTIPART = 'Accept: multipart/mixed;subscriptionSpec=1.0\r\n'
const SSE = 'Accept: text/event-stream\r\n'
/** The backend ignores all but the first word. */
const variables = (how: string): object => ({ n: n++, how: `${how} ${'x'.repeat(30_000)}` })
const subscribe = (payload: object): Buffer => frame(JSON.stringify({ id: 'a', type: 'subscribe', payload }))

const BODY = post(JSON.stringify({ query: '{ __typename }', variables: { a: 'x'.repeat(500_000) } }))
const CHUNKED =
  'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const FORM =
  'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 500000\r\n\r\n' +
  `--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${'x'.repeat(300_000)}`

/** Opens a connection, and writes what makes the gateway hold memory. */
type Holder = () => Promise<Socket>
type Ending = (socket: Socket) => Promise<unknown> | void

const request = (bytes: () => string, isRead = true): Holder => {
  return async () => {
    const socket = await open(target, never)
    if (!isRead) socket.pause()
    else socket.resume()
    socket.write(bytes())
    await drained(socket)
    return socket
  }
}
const socketWith = (write: (socket: Socket) => void, payload?: object): Holder => {
  return async () => {
    const socket = await openWebSocket(target, never, payload ? { payload } : {})
    write(socket.resume())
    return socket
  }
}

const leaves: Ending = (socket) => void socket.resetAndDestroy()
const closes: Ending = (socket) => void socket.end()
/** Nothing is done: a bound of time ends it. */
const waits: Ending = () => {}
const writes =
  (...parts: (string | Buffer)[]): Ending =>
  async (socket) => {
    for (const part of parts) socket.write(part)
  }
const reads: Ending = (socket) => void socket.resume()
const backendEnds: Ending = () => {
  for (const backend of replying) backend.emit('finish-reply')
}
const backendLeaves: Ending = () => {
  for (const backend of replying) backend.resetAndDestroy()
}
const completes = writes(frame('{"id":"a","type":"complete"}'))
const breaks = writes(frame('nonsense'))

const bodyEndings = { 'its client leaves': leaves, 'its client half closes': closes, 'its time is up': waits }
const socketEndings = {
  'its client leaves': leaves,
  'its client half closes': closes,
  'it is refused': breaks,
  'its client answers no ping': waits,
}
const operationEndings = { ...socketEndings, 'it is completed': completes }
const replyEndings = {
  'it ends': backendEnds,
  'its client leaves': leaves,
  'its backend leaves': backendLeaves,
  'its time is up': waits,
}
const unreadEndings = { 'they are read': reads, 'their client leaves': leaves, 'their time is up': waits }
const streamEndings = { 'its client leaves': leaves, 'its client half closes': closes }

/** What two of a kind hold at least; default `HELD_BYTES`. */
type Kind = readonly [Holder, Readonly<Record<string, Ending>>, leastBytes?: number]
const HOLDERS: Readonly<Record<string, Kind>> = {
  'a body': [
    request(() => BODY.slice(0, -10)),
    { ...bodyEndings, 'it ends': writes(BODY.slice(-10)), 'it is no JSON': writes('x'.repeat(10)) },
  ],
  'a body in chunks': [
    request(() => CHUNKED + chunk('x'.repeat(200_000))),
    {
      ...bodyEndings,
      'it ends': writes('0\r\n\r\n'),
      'it is too large': writes(chunk('x'.repeat(900_000))),
      'it is shredded': writes(chunk('x').repeat(5_000)),
      'a chunk has no size': writes('nonsense\r\n'),
    },
  ],
  'a form': [
    request(() => FORM),
    { ...bodyEndings, 'it ends': writes('\r\n--b--\r\n', 'x'.repeat(199_900)) },
  ],
  'an init payload': [socketWith(() => {}, { a: 'x'.repeat(30_000) }), socketEndings],
  'an unfinished message': [
    socketWith((socket) => socket.write(subscribe({ query: ' '.repeat(250_000) }).subarray(0, -1))),
    { 'its client leaves': leaves, 'its client half closes': closes, 'its client answers no ping': waits },
  ],
  'variables of a live query': [
    socketWith((socket) => socket.write(subscribe({ query: LIVE, variables: variables('small') }))),
    operationEndings,
  ],
  'an operation of a socket': [
    socketWith((socket) =>
      socket.write(
        subscribe({
          query: 'query ($n: Int!, $how: String!) { thing(how: $how, n: $n) { id } }',
          variables: variables('plain'),
        }),
      ),
    ),
    { ...operationEndings, 'its backend leaves': backendLeaves },
  ],
  'a live query over SSE': [
    request(() => post(JSON.stringify({ query: LIVE, variables: variables('small') }), { headers: SSE })),
    streamEndings,
  ],
  'a live query over multipart': [
    request(() =>
      post(JSON.stringify({ query: LIVE, variables: variables('small') }), { headers: MULTIPART }),
    ),
    streamEndings,
  ],
  'a long reply': [request(() => post(thing('plain'))), replyEndings],
  'a packed reply': [request(() => post(thing('packed'))), replyEndings],
  'responses that are not read': [request(() => post(thing('whole')).repeat(20), false), unreadEndings],
  'messages of a socket that are not read': [
    socketWith((socket) => {
      socket.pause()
      for (let id = 0; id < 20; id++)
        socket.write(
          frame(JSON.stringify({ id: `${id}`, type: 'subscribe', payload: JSON.parse(thing('whole')) })),
        )
    }),
    unreadEndings,
  ],
  'a gRPC reply': [
    request(() => post(ask(1))),
    { 'its client leaves': leaves, 'its backend leaves': () => grpc.drop(), 'its time is up': waits },
    1_000_000,
  ],
  'messages of a gRPC stream, the last of which has not arrived': [
    request(() => post(watch(1), { headers: SSE })),
    { 'its client leaves': leaves, 'its backend leaves': () => grpc.drop() },
    1_000_000,
  ],
  'a gRPC reply of gzip': [request(() => post(ask(2))), {}],
  'messages of a gRPC stream': [request(() => post(watch(3), { headers: SSE }), false), {}],
  'requests that wait for a reply': [
    request(() => post(thing('plain')).repeat(20)),
    { 'it ends': backendEnds, 'its client leaves': leaves, 'its time is up': waits },
  ],
}

const ROWS = Object.entries(HOLDERS).flatMap(([name, [holder, endings, leastBytes]]) =>
  Object.entries(endings)
    .filter(([how]) => !QUICK || QUICK_ENDINGS.has(how))
    .map(([how, ending]) => [name, how, holder, ending, leastBytes] as const),
)

it.each(ROWS)(
  '%s, until %s: the ledger counts it, and nothing after it',
  async (_name, _how, holder, ending, leastBytes) => {
    await untilNothing()
    const sockets = [await holder(), await holder()]
    await untilHeld(leastBytes)
    for (const socket of sockets) await ending(socket)
    const again = setInterval(() => ending === backendEnds && void backendEnds(sockets[0]!), 100)
    await untilNothing()
    clearInterval(again)
    for (const socket of sockets) socket.destroy()
    expect(await heldBytes()).toBeLessThan(NOTHING_BYTES)
  },
)

it(`${LEAVING} clients leave at random moments: the ledger counts nothing after them`, async () => {
  await untilNothing()
  const random = createRandom(SEED, 'leaving')
  const holders = Object.values(HOLDERS)
  let most = 0
  const one = async (): Promise<void> => {
    const [holder] = random.pick(holders)
    const socket = await holder()
    await pause(random.below(200), never)
    if (random.chance(0.2)) backendLeaves(socket)
    if (random.chance(0.2)) backendEnds(socket)
    if (random.chance(0.5)) socket.resetAndDestroy()
    else socket.destroy()
  }
  for (let left = LEAVING; left > 0; left -= 25) {
    const leaving = Array.from({ length: 25 }, one)
    await pause(50, never)
    most = Math.max(most, await heldBytes())
    await Promise.all(leaving)
  }
  expect(most).toBeGreaterThan(HELD_BYTES)
  await untilNothing()
  recordFigure({
    area: 'memory',
    fault: `${LEAVING} clients of every kind leave at random moments, seed ${SEED}`,
    asked: 'the ledger counts nothing after them',
    seen: `${(most / 1_048_576).toFixed(1)} MB at most, then ${await heldBytes()} bytes`,
  })
})
