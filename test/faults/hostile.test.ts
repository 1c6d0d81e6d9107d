import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDisposables, createRandom, type Random, waitUntil } from '@vinyasa/test-kit'
import { startHostileGrpc, type HostileGrpc } from './hostile/grpc.ts'
import { hostileRequests } from './hostile/requests.ts'
import { startHostileRest, type HostileRest } from './hostile/rest.ts'
import { hostileSocket } from './hostile/web-socket.ts'
import { recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { HEAP_PROBE, heapOf } from './support/heap.ts'

const QUICK = process.env['FAULTS_QUICK'] === '1'
/** `FAULTS_SEED=7 pnpm test:faults hostile` sends something else; one seed sends the same each time. */
const SEED = Number(process.env['FAULTS_SEED'] ?? 1)
const times = (quick: number): number => (QUICK ? quick : quick * 10)
/** Small, so that what piles up shows soon. */
const HEAP_MB = 192
const PROTO =
  'syntax = "proto3"; package h; service Users { rpc GetUser(GetUserRequest) returns (User); } message GetUserRequest { int32 turn = 1; } message User { string name = 1; }'

const disposables = createDisposables(afterAll)
let rest: HostileRest
let grpc: HostileGrpc
let gateway: RunningGateway
let before: { readonly files: number; readonly heapMb: number } | undefined

const openFiles = (): number => readdirSync(`/proc/${gateway.process.pid}/fd`).length

beforeAll(async () => {
  rest = disposables.use(await startHostileRest())
  grpc = disposables.use(await startHostileGrpc())
  const polled = { strategy: 'POLLING', pollIntervalMs: 50 }
  gateway = disposables.use(
    await startGateway({
      untilReady: false,
      env: { NODE_OPTIONS: [...HEAP_PROBE, `--max-old-space-size=${HEAP_MB}`].join(' ') },
      config: {
        typeDefs: 'scalar JSON type Query { echo(v: JSON): JSON }',
        graphql: { batching: 3 },
        metrics: true,
        // Nearly everything that is asked again is stale, and refreshed behind the answer.
        responseCache: { defaultTtlMs: 5, staleWhileRevalidateMs: 60_000, maxSize: 100 },
        liveQuery: { fields: { a: polled, deep: polled, user: polled } },
        grpc: {
          users: {
            endpoint: grpc.address,
            protoText: { 'h.proto': PROTO },
            methods: { 'h.Users.GetUser': { schema: { name: 'user' }, timeoutMs: 300 } },
          },
        },
        rest: {
          api: {
            baseUrl: rest.url,
            timeoutMs: 300,
            endpoints: [
              {
                name: 'a',
                path: '/a',
                returnType: 'A',
                responseSchema: { typeName: 'A', fields: { id: 'id', name: 'string' } },
              },
              { name: 'deep', path: '/deep' },
              { name: 'write', method: 'POST', path: '/write' },
            ],
          },
        },
      },
    }),
  )
  await unharmed()
  before = { files: openFiles(), heapMb: (await heapOf(gateway.process)).heapMb }
})

/** Waits until the gateway answers rightly and has let go of everything, and says where it does not. */
async function unharmed(): Promise<void> {
  rest.misbehave(undefined)
  grpc.misbehave(undefined)
  await waitUntil(
    async () => {
      if (!gateway.process.isRunning()) throw new Error(`The gateway ended:\n${gateway.process.output()}`)
      const fresh = { 'cache-control': 'no-cache' }
      const { data } = await gateway.query(
        `{ a { id name } user(turn: ${Date.now() % 1_000_000}) { name } }`,
        {},
        fresh,
      )
      return JSON.stringify(data) === '{"a":{"id":"1","name":"Ada"},"user":{"name":"Ada"}}'
    },
    { timeoutMs: 10_000, awaited: 'a right answer' },
  )
  expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200)
  const live = async (): Promise<string | undefined> =>
    /^vinyasa_live_subscriptions (\d+)$/m.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1]
  await waitUntil(async () => (await live()) === '0', { awaited: 'the end of every live query' })
  const { files = Infinity } = before ?? {}
  await waitUntil(() => openFiles() < files + 20, { awaited: 'the end of every connection' })
  expect(gateway.process.output()).not.toMatch(/unhandled|uncaught|MaxListeners|leak detected/i)
}

/** Sends bytes on a connection of their own, which the client may cut or half close at any time. */
function send(bytes: Buffer, random: Random): Promise<void> {
  const isHalfClosed = random.chance(0.2)
  // Node cannot reset a socket that it is shutting down.
  const cutAfter = isHalfClosed || random.chance(0.4) ? undefined : random.below(60)
  const waitMs = 60 + random.below(60)
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
    const timers = [setTimeout(() => socket.destroy(), waitMs)]
    if (cutAfter !== undefined) timers.push(setTimeout(() => socket.resetAndDestroy(), cutAfter))
    socket
      .on('error', () => {})
      .once('close', () => {
        for (const timer of timers) clearTimeout(timer)
        resolve()
      })
    socket.resume()
    socket.write(bytes)
    if (isHalfClosed) socket.end()
  })
}

async function inParallel(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count && gateway.process.isRunning()) await run(next++)
  }
  await Promise.all(Array.from({ length: 20 }, worker))
}

async function row(
  fault: string,
  count: number,
  run: (index: number) => Promise<unknown>,
): Promise<'unharmed'> {
  await inParallel(count, run)
  await unharmed()
  recordFigure({
    area: 'process',
    fault: `${count} ${fault}, seed ${SEED}`,
    asked: 'lives, answers, lets go',
    seen: 'so',
  })
  return 'unharmed'
}

it('HTTP requests of any form, cut and reset anywhere', async () => {
  const requests = row('hostile HTTP requests', times(500), (turn) => {
    const random = createRandom(SEED, `request ${turn}`)
    return send(hostileRequests(random), random)
  })
  await expect(requests).resolves.toBe('unharmed')
})

it('WebSockets of any messages and frames, cut and reset anywhere', async () => {
  const sockets = row('hostile WebSockets', times(300), (turn) => {
    const random = createRandom(SEED, `socket ${turn}`)
    return send(hostileSocket(random), random)
  })
  await expect(sockets).resolves.toBe('unharmed')
})

it('backends that answer with anything, to queries, deferred fragments, event streams and live queries', async () => {
  rest.misbehave(createRandom(SEED, 'rest'))
  grpc.misbehave(createRandom(SEED, 'grpc'))
  const queries = [
    '{ a { id name } }',
    '{ deep }',
    'mutation { write }',
    '{ a { id ... @defer { name } } }',
    '{ deep ... @defer { a { id } } }',
    'query @live { a { id } }',
    'query @live { deep }',
    'query @live { user(turn: TURN) { name } }',
    '{ user(turn: TURN) { name } }',
    '{ user(turn: TURN) { name } a { id } }',
  ]
  const accepts = ['application/json', 'multipart/mixed, application/json', 'text/event-stream']
  const asked = row('queries to hostile backends', times(300), async (turn) => {
    const random = createRandom(SEED, `query ${turn}`)
    const body = JSON.stringify({ query: random.pick(queries).replace('TURN', String(turn)) })
    const headers = { 'content-type': 'application/json', accept: random.pick(accepts) }
    const signal = AbortSignal.timeout(100 + random.below(300))
    const answer = fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body, signal })
    await answer.then((response) => response.text()).catch(() => {})
  })
  await expect(asked).resolves.toBe('unharmed')
})

it('documents of a megabyte, nearly all comments: none is kept', async () => {
  const comments = '#\n'.repeat(340_000)
  const sent = row('documents of a megabyte', 20, (turn) => gateway.query(`{ echo${turn}: echo ${comments}}`))
  await expect(sent).resolves.toBe('unharmed')
})

it('a heap as before', async () => {
  const { heapMb } = await heapOf(gateway.process)
  recordFigure({
    area: 'process',
    fault: 'heap after all of the hostile input',
    asked: 'as before, and what caches hold',
    seen: `${before!.heapMb.toFixed(0)} MB before, ${heapMb.toFixed(0)} MB after`,
  })
  expect(heapMb - before!.heapMb).toBeLessThan(90)
})
