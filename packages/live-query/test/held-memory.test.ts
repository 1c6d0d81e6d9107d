import * as fc from 'fast-check'
import { createLedger, heldBytes, type Ledger, processLedger } from '@vinyasa/core'
import { createFakeClock, type RawWebSocket, waitUntil } from '@vinyasa/test-kit'
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WebSocket } from 'ws'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createConnections } from '../src/protocol/connections.ts'
import { WsSocket } from '../src/ws/ws-socket.ts'
import { startLive, subscribe, USERS, type LiveSetup, type LiveSetupOptions } from './support.ts'

const OF_PROCESS = Symbol.for('vinyasa.ledger')
const ofProcess = globalThis as { [OF_PROCESS]?: Ledger | undefined }
const realLedger = processLedger()
let setup: LiveSetup
let ledger: Ledger

beforeEach(() => void (ofProcess[OF_PROCESS] = ledger = createLedger(50_000_000)))
afterEach(async () => {
  await setup.close()
  await waitUntil(() => ledger.bytes === 0, { awaited: 'an empty ledger' })
  ofProcess[OF_PROCESS] = realLedger
})

/** The client of a socket is its user agent. */
const start = (options: LiveSetupOptions = {}): Promise<LiveSetup> =>
  startLive({
    ...options,
    ws: { clientOf: ({ headers }) => headers['user-agent'] ?? '', keepAliveMs: 0, ...options.ws },
  })
const ready = (client: string): Promise<RawWebSocket> => setup.ready(undefined, { 'user-agent': client })
const objects = (count: number): object[] => Array.from({ length: count }, () => ({}))
const LIVE_USER = 'query ($id: ID!) @live { user(id: $id) { name } }'

/** Bytes that the ledger has more once `act` is done and the socket has answered a ping. */
async function heldBy(socket: RawWebSocket, act: () => void): Promise<number> {
  const before = ledger.bytes
  act()
  await answersPing(socket)
  return ledger.bytes - before
}

async function answersPing(socket: RawWebSocket): Promise<void> {
  const pongs = (): number => socket.frames.filter(({ text }) => text === '{"type":"pong"}').length
  const before = pongs()
  socket.sendJson({ type: 'ping' })
  await expect.poll(pongs).toBeGreaterThan(before)
}

describe('connection_init', () => {
  it('holds its payload until the socket closes', async () => {
    setup = await start()
    const payload = { a: objects(500), text: 'x'.repeat(5_000) }
    const [plain, large] = [await setup.ready(), await setup.ready(payload)]
    await Promise.all([plain, large].map(answersPing))
    const both = ledger.bytes
    plain.terminate()
    await expect.poll(() => setup.live.sockets).toBe(1)
    const ofLarge = ledger.bytes
    expect(ofLarge - (both - ofLarge)).toBeGreaterThanOrEqual(heldBytes(payload))
  })

  it.each([
    ['2,000 objects', JSON.stringify({ a: objects(2_000) })],
    ['70 kB of text', JSON.stringify({ a: 'x'.repeat(70_000) })],
    ['lists that are nested 5,000 times', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ])('with %s is refused with 4400', async (_, payload) => {
    setup = await start()
    const socket = await setup.connect()
    socket.send(`{"type":"connection_init","payload":${payload}}`)
    expect(await socket.nextClose()).toMatchObject({ code: 4400 })
    expect(setup.errors).toEqual([])
  })
})

describe('operations', () => {
  it('hold their parameters while they run', async () => {
    setup = await start()
    setup.world.gate = new Promise(() => {})
    const socket = await ready('a')
    const variables = { a: objects(3_000) }
    const running = await heldBy(socket, () =>
      socket.sendJson(subscribe('a', '{ slow { name } }', variables)),
    )
    expect(running).toBeGreaterThan(heldBytes(variables))
    await heldBy(socket, () => socket.sendJson({ id: 'a', type: 'complete' }))
    const waiting = await heldBy(socket, () => socket.sendJson(subscribe('a', '{ plain }', variables)))
    expect(waiting).toBeGreaterThan(heldBytes(variables))
  })

  it('that wait for the client to read hold theirs, and let go of them when they are completed', async () => {
    setup = await start()
    const socket = await ready('a')
    setup.world.users[0]!.name = 'x'.repeat(1_000_000)
    socket.pause()
    for (let id = 0; id < 20; id++) socket.sendJson(subscribe(`${id}`, '{ user(id: 1) { name } }'))
    for (let id = 20; id < 60; id++) socket.sendJson(subscribe(`${id}`, '{ plain }', { a: objects(2_000) }))
    const waiting = 40 * heldBytes(objects(2_000))
    await expect.poll(() => ledger.bytes).toBeGreaterThan(waiting)
    let before = 0
    while (before !== ledger.bytes) {
      before = ledger.bytes
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    for (let id = 20; id < 60; id++) socket.sendJson({ id: `${id}`, type: 'complete' })
    await expect.poll(() => ledger.bytes).toBeLessThanOrEqual(before - waiting)
  })

  it('whose id is longer than 1,000 characters close the socket with 4400', async () => {
    setup = await start()
    const socket = await ready('a')
    socket.sendJson(subscribe('x'.repeat(1_000), '{ plain }'))
    expect(await socket.takeJson(2)).toMatchObject([{ type: 'next' }, { type: 'complete' }])
    socket.sendJson(subscribe('x'.repeat(1_001), '{ plain }'))
    expect(await socket.nextClose()).toMatchObject({ code: 4400 })
  })
})

describe('live queries', () => {
  const undeclared = { id: '1', a: objects(25_000) }
  const memory = (): number => {
    setFlagsFromString('--expose-gc')
    ;(runInNewContext('gc') as () => void)()
    return process.memoryUsage().heapUsed
  }

  it('keep declared variables alone', async () => {
    setup = await start()
    const socket = await ready('a')
    socket.sendJson(subscribe('0', LIVE_USER, undeclared))
    await socket.nextJson()
    const before = memory()
    for (let id = 1; id < 40; id++) {
      socket.sendJson(subscribe(`${id}`, LIVE_USER, { ...undeclared, id: `1${' '.repeat(id)}` }))
      await socket.nextJson()
    }
    // Each would be 1.6 MB.
    expect(memory() - before).toBeLessThan(10_000_000)
    expect(ledger.bytes).toBeLessThan(40 * 20_000)
    const declared = subscribe('a', LIVE_USER, { id: `1${' '.repeat(100_000)}` })
    const held = await heldBy(socket, () => socket.sendJson(declared))
    expect(held).toBeGreaterThan(200_000)
  })

  it('run again with the variables that they declare', async () => {
    setup = await start()
    const socket = await ready('a')
    socket.sendJson(subscribe('a', LIVE_USER, { id: '2', other: '1' }))
    expect((await socket.nextJson()).payload.data).toEqual({ user: { name: 'Bob' } })
    await setup.changeUser('2', { name: 'Eve' })
    await setup.clock.advance(2_000)
    expect((await socket.nextJson()).payload.data).toEqual({ user: { name: 'Eve' } })
  })

  it('hold their last result, and of who does not read the one before', async () => {
    setup = await start()
    const [reader, stalled] = [await ready('a'), await ready('b')]
    const change = async (turn: number): Promise<void> => {
      await setup.changeUser('1', { name: `${turn} ${'x'.repeat(400_000)}` })
      await setup.clock.advance(2_000)
    }
    await change(0)
    for (const socket of [reader, stalled]) {
      socket.sendJson(subscribe('a', LIVE_USER, { id: '1' }))
      await socket.nextJson()
    }
    const oneResult = ledger.bytes
    expect(oneResult).toBeGreaterThan(3_000_000)
    stalled.pause()
    for (let turn = 1; turn < 40; turn++) {
      await change(turn)
      await reader.nextJson()
    }
    expect(ledger.bytes).toBeGreaterThan(2 * 3_000_000)
    expect(ledger.bytes).toBeLessThan(4 * oneResult)
  })
})

describe('messages', () => {
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(setup.wsUrl, 'graphql-transport-ws', { perMessageDeflate: false })
    socket.on('error', () => {})
    await new Promise((resolve) => void socket.once('open', resolve))
    socket.send('{"type":"connection_init"}')
    await new Promise((resolve) => void socket.once('message', resolve))
    return socket
  }

  it('are counted while they arrive, and no longer', async () => {
    setup = await start()
    const socket = await open()
    await expect.poll(() => ledger.bytes).toBeGreaterThan(0)
    const idle = ledger.bytes
    for (let part = 0; part < 10; part++) socket.send(' '.repeat(20_000), { fin: false })
    await expect.poll(() => ledger.bytes).toBeGreaterThan(idle + 200_000)
    socket.send('{"type":"pong"}')
    await expect.poll(() => ledger.bytes).toBeLessThan(idle + 10_000)
    socket.terminate()
  })

  it('are not sent back in pongs to a client that does not read', async () => {
    setup = await start()
    let unsent = 0
    const sent: string[] = []
    const connection = createConnections({
      engine: { ...setup.plugin.engine, onError: (error) => expect.unreachable(String(error)) },
      maxSubscriptionsPerSocket: 1,
      updateFields: 'payload',
      onConnect: undefined,
      toAsked: () => expect.unreachable(),
    })({
      socket: {
        protocol: 'graphql-transport-ws',
        bufferedBytes: () => unsent,
        send: (text) => void sent.push(text),
        close: () => {},
        hold: () => {},
      },
      handshake: { client: '', url: 'http://x/', headers: new Headers(), encrypted: false },
      take: () => true,
    })
    const ping = JSON.stringify({ type: 'ping', payload: { text: 'x' } })
    connection.receive(ping)
    unsent = 100_000
    connection.receive(ping)
    expect(sent).toEqual([ping.replace('ping', 'pong'), '{"type":"pong"}'])
    connection.closed()
  })

  it('one pong, however many pings come before it has left', async () => {
    setup = await start()
    const sent: (() => void)[] = []
    const pong = (_data: unknown, _mask: unknown, onSent: () => void): void => void sent.push(onSent)
    const ws = Object.assign(new EventEmitter(), { OPEN: 1, readyState: 1, pong })
    const options = { stream: new PassThrough(), client: 'a', maxBufferedBytes: 1_000_000 }
    const socket = new WsSocket({ ...options, clock: createFakeClock(), ws: ws as unknown as WebSocket })
    socket.onText(() => {}, { run: (job) => job(), waiting: 0, close: () => {} })
    const idle = ledger.bytes
    for (let n = 0; n < 600; n++) ws.emit('ping', Buffer.alloc(125))
    await Promise.resolve()
    for (let n = 0; n < 300; n++) ws.emit('ping', Buffer.alloc(125))
    await Promise.resolve()
    expect(ledger.bytes - idle).toBeGreaterThan(125)
    expect(ledger.bytes - idle).toBeLessThan(5_000)
    expect(sent).toHaveLength(1)
    sent[0]?.()
    expect(sent).toHaveLength(2)
    sent[1]?.()
    expect(ledger.bytes).toBe(idle)
    ws.emit('close')
  })
})

describe('over the budget', () => {
  it('the socket that holds most is closed with 1013; others stay', async () => {
    setup = await start()
    setup.world.gate = new Promise(() => {})
    const [greedy, other] = [await ready('greedy'), await ready('other')]
    const variables = { a: objects(20_000) }
    other.sendJson(subscribe('a', '{ slow { name } }', variables))
    for (let id = 0; id < 40; id++) greedy.sendJson(subscribe(`${id}`, '{ slow { name } }', variables))
    expect(await greedy.nextClose()).toEqual({
      code: 1013,
      reason: 'This client uses too much memory',
    })
    await answersPing(other)
    expect(ledger.bytes).toBeLessThan(5_000_000)
    expect(setup.errors).toEqual([])
  })

  it('its live queries end with an error, the largest first; those of others stay', async () => {
    ofProcess[OF_PROCESS] = ledger = createLedger(10_000_000)
    setup = await start()
    const [greedy, other] = [await ready('greedy'), await ready('other')]
    other.sendJson(subscribe('a', USERS))
    await other.nextJson()
    const id = (n: number): string => `1${' '.repeat(100_000)}${n}`
    for (let n = 0; n < 40; n++) {
      greedy.sendJson(subscribe(`${n}`, LIVE_USER, { id: id(n) }))
      await greedy.nextJson()
    }
    setup.world.gate = new Promise(() => {})
    for (let n = 0; n < 15; n++) other.sendJson(subscribe(`${n}`, '{ slow { name } }', { a: objects(2_000) }))
    expect(await greedy.nextJson()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'LIVE_QUERY_LIMIT' } }],
    })
    setup.world.gate = undefined
    await answersPing(greedy)
    expect(ledger.bytes).toBeLessThanOrEqual(ledger.maxBytes)
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(2_000)
    await expect.poll(() => other.frames.some(({ text }) => text.includes('"name":"Eve"'))).toBe(true)
  }, 30_000)

  it('a result that is too large ends the live query, for all who share it', async () => {
    ofProcess[OF_PROCESS] = ledger = createLedger(1_000_000)
    setup = await start()
    const [one, two] = [await ready('one'), await ready('two')]
    for (const socket of [one, two]) {
      socket.sendJson(subscribe('a', USERS))
      await socket.nextJson()
    }
    await setup.changeUser('1', { name: 'x'.repeat(200_000) })
    await setup.clock.advance(2_000)
    for (const socket of [one, two])
      expect(await socket.nextJson()).toMatchObject({
        type: 'error',
        payload: [{ extensions: { code: 'LIVE_QUERY_LIMIT' } }],
      })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
    await setup.changeUser('1', { name: 'Ada' })
    one.sendJson(subscribe('a', USERS))
    expect(await one.nextJson()).toMatchObject({ type: 'next' })
  })

  it('while nothing can be dropped new sockets are refused with 503', async () => {
    setup = await start()
    const other = ledger.hold('other', ledger.maxBytes + 1)
    await expect(setup.connect()).rejects.toMatchObject({ statusCode: 503 })
    other.release()
    await setup.ready()
  })
})

it('holds nothing more once sockets have closed, whatever was sent on them', async () => {
  const actions = ['subscribe', 'live', 'complete', 'change', 'ping', 'leave', 'part'] as const
  const step = fc.record({
    socket: fc.nat({ max: 2 }),
    does: fc.constantFrom(...actions),
    id: fc.nat({ max: 3 }),
    size: fc.nat({ max: 3_000 }),
  })
  setup = await start({ ws: { maxSubscriptionsPerSocket: 3 } })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const sockets: (RawWebSocket | undefined)[] = []
      for (const { socket: at, does, id, size } of steps) {
        const socket = (sockets[at] ??= await setup.ready({ a: objects(size % 100) }))
        if (does === 'leave') {
          socket.terminate()
          sockets[at] = undefined
        } else if (does === 'change') {
          await setup.changeUser('1', { name: 'x'.repeat(size) })
          await setup.clock.advance(1_500)
        } else if (does === 'complete') socket.sendJson({ id: `${id}`, type: 'complete' })
        else if (does === 'ping') socket.sendJson({ type: 'ping', payload: { a: 'x'.repeat(size) } })
        else if (does === 'live')
          socket.sendJson(subscribe(`${id}`, LIVE_USER, { id: '1', a: objects(size) }))
        else if (does === 'part') socket.send('x'.repeat(size))
        else socket.sendJson(subscribe(`${id}`, '{ users { totalCount } }', { a: objects(size) }))
      }
      for (const socket of sockets) socket?.terminate()
      await expect.poll(() => ledger.bytes, { interval: 1 }).toBe(0)
      expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
    }),
    { numRuns: 30 },
  )
}, 240_000)
