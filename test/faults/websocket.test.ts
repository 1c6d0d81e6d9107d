import {
  connectRawWebSocket,
  createDisposables,
  type RawWebSocket,
  startRestBackend,
  waitUntil,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { median, ms, recordFigure } from './support/figures.ts'
import { residentMb } from './support/memory.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

const disposables = createDisposables(afterAll)
let gateway: RunningGateway

beforeAll(async () => {
  const backend = disposables.use(
    await startRestBackend(({ url }) => ({
      json: { id: url.pathname.split('/').at(-1), text: 'x'.repeat(50_000) },
    })),
  )
  gateway = disposables.use(
    await startGateway({
      config: {
        log: { format: 'json' },
        rest: {
          api: {
            baseUrl: backend.url,
            endpoints: [
              {
                name: 'thing',
                path: '/things/{id}',
                args: { id: 'ID!' },
                liveQuery: { enabled: true, triggers: ['Thing.update'] },
              },
              {
                name: 'updateThing',
                method: 'PUT',
                path: '/things/{id}',
                args: { id: 'ID!' },
                invalidates: [{ entityType: 'Thing', operation: 'update' }],
              },
            ],
          },
        },
      },
    }),
  )
})

const connect = async (protocol: string | null = 'graphql-transport-ws'): Promise<RawWebSocket> =>
  createDisposables(onTestFinished).use(
    await connectRawWebSocket(`${gateway.url}/graphql/live`, { protocol }),
  )

async function connectAndInit(): Promise<RawWebSocket> {
  const socket = await connect()
  socket.sendJson({ type: 'connection_init' })
  expect(await socket.nextJson()).toEqual({ type: 'connection_ack' })
  return socket
}

const subscribe = (id: string, query: string) => ({ id, type: 'subscribe', payload: { query } })
const LIVE = 'query @live { thing(id: "1") }'

describe('what breaks the protocol closes the socket with the code for it', () => {
  it.each([
    ['text that is not JSON', 4400, (socket: RawWebSocket) => socket.send('hello')],
    ['a JSON array', 4400, (socket: RawWebSocket) => socket.send('[]')],
    ['JSON null', 4400, (socket: RawWebSocket) => socket.send('null')],
    ['binary junk', 4400, (socket: RawWebSocket) => socket.send(Buffer.from([0, 255, 1]))],
    ['an unknown type', 4400, (socket: RawWebSocket) => socket.sendJson({ type: 'start' })],
    [
      'subscribe without id',
      4400,
      (socket: RawWebSocket) => socket.sendJson({ type: 'subscribe', payload: { query: LIVE } }),
    ],
    ['complete without id', 4400, (socket: RawWebSocket) => socket.sendJson({ type: 'complete' })],
    [
      'a second connection_init',
      4429,
      (socket: RawWebSocket) => socket.sendJson({ type: 'connection_init' }),
    ],
    ['a 10 MB frame', 1009, (socket: RawWebSocket) => socket.send('x'.repeat(10_000_000))],
    [
      'an id in use',
      4409,
      (socket: RawWebSocket) => {
        socket.sendJson(subscribe('a', LIVE))
        socket.sendJson(subscribe('a', LIVE))
      },
    ],
  ])('%s: %i', async (fault, code, send) => {
    const socket = await connectAndInit()
    send(socket)
    const seen = (await socket.nextClose()).code
    recordFigure({ area: 'WebSocket', fault, asked: `close ${code}`, seen: `close ${seen}` })
    expect(seen).toBe(code)
  })

  it('subscribe before connection_init: 4401', async () => {
    const socket = await connect()
    socket.sendJson(subscribe('a', LIVE))
    expect((await socket.nextClose()).code).toBe(4401)
  })

  it('no sub-protocol: 4406; another one is not agreed to', async () => {
    expect((await (await connect(null)).nextClose()).code).toBe(4406)
    await expect(connect('graphql-ws')).rejects.toThrow('Server sent no subprotocol')
  })

  it('no connection_init at all: 4408', async () => {
    const socket = await connect()
    expect((await socket.nextClose(15_000)).code).toBe(4408)
  })
})

describe('what is wrong with one operation ends that operation', () => {
  it.each([
    ['a syntax error', 'query @live { thing('],
    ['an unknown field', 'query @live { nothing }'],
    ['a missing argument', 'query @live { thing }'],
    ['a field that is not live', 'mutation @live { updateThing(id: "1") }'],
  ])('%s: `error`, the socket and its other operations live', async (fault, query) => {
    const socket = await connectAndInit()
    socket.sendJson(subscribe('good', LIVE))
    expect(await socket.nextJson()).toMatchObject({ id: 'good', type: 'next' })
    socket.sendJson(subscribe('bad', query))
    expect(await socket.nextJson()).toMatchObject({
      id: 'bad',
      type: 'error',
      payload: [{ message: expect.any(String) }],
    })
    await gateway.query('mutation { updateThing(id: "1") }')
    socket.sendJson({ type: 'ping' })
    const answers = await socket.takeJson(1)
    expect(answers[0].type).toMatch(/pong|next/)
    recordFigure({
      area: 'WebSocket',
      fault: `${fault} in one operation`,
      asked: 'error, socket lives',
      seen: 'so',
    })
  })

  it('1,000 subscriptions on a socket: 100, then `error`', async () => {
    const socket = await connectAndInit()
    for (let id = 0; id < 1_000; id++) socket.sendJson(subscribe(String(id), LIVE))
    const answers = await socket.takeJson(1_000, 20_000)
    const accepted = answers.filter(({ type }) => type === 'next')
    const refused = answers.filter(({ type }) => type === 'error')
    recordFigure({
      area: 'WebSocket',
      fault: '1,000 subscriptions on a socket',
      asked: '100, then error',
      seen: `${accepted.length}, then ${refused.length} × error`,
    })
    expect([accepted.length, refused.length]).toEqual([100, 900])
    expect(refused[0].payload).toMatchObject([{ extensions: { code: 'LIVE_QUERY_LIMIT' } }])
    socket.sendJson({ type: 'ping' })
    expect(await socket.nextJson()).toEqual({ type: 'pong' })
  })
})

describe('a consumer that stops reading', () => {
  it('holds back no one else and costs no memory', async () => {
    const stalled = await connectAndInit()
    const reader = await connectAndInit()
    for (const socket of [stalled, reader]) {
      socket.sendJson(subscribe('a', 'query @live { thing(id: "2") }'))
      await socket.nextJson()
    }
    stalled.pause()
    const before = residentMb(gateway.process.pid)
    const delays: number[] = []
    // 60 updates of 50 kB would be 3 MB for the stalled one if they were kept.
    for (let update = 0; update < 60; update++) {
      const at = performance.now()
      await gateway.query('mutation { updateThing(id: "2") }')
      await reader.nextJson()
      delays.push(performance.now() - at)
    }
    const growth = residentMb(gateway.process.pid) - before
    stalled.resume()
    await gateway.query('mutation { updateThing(id: "2") }')
    const last = await waitUntil(() => {
      const revision = stalled.frames.at(-1)?.json().payload.revision
      return revision >= 2 ? revision : undefined
    })
    recordFigure({
      area: 'WebSocket',
      fault: 'a consumer that stops reading',
      asked: 'at most 1 pending result, memory flat, others unaffected',
      seen: `others after ${ms(median(delays))}, resident size ${growth >= 0 ? '+' : ''}${growth.toFixed(0)} MB over 60 × 50 kB, then revision ${last}`,
    })
    expect(growth).toBeLessThan(60)
    expect(gateway.process.isRunning()).toBe(true)
  })
})
