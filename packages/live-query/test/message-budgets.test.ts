import type { Writable } from 'node:stream'
import { WebSocket } from 'ws'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { MAX_FRAGMENTS, MESSAGE_BUDGETS, type Repeatable } from '../src/protocol/messages.ts'
import { startLive, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

const json = (message: object) => (socket: WebSocket) => socket.send(JSON.stringify(message))

/** How a peer sends one of each; `undefined` as the code: it is closed for the first already. */
const SEND: Readonly<Record<Repeatable, (socket: WebSocket, number: number) => void>> = {
  connection_init: json({ type: 'connection_init' }),
  ping: json({ type: 'ping' }),
  pong: json({ type: 'pong' }),
  subscribe: (socket, number) =>
    json({ id: `${number}`, type: 'subscribe', payload: { query: '{ slow { name } }' } })(socket),
  complete: json({ id: 'a', type: 'complete' }),
  unknown: json({ type: 'hello' }),
  binary: (socket) => socket.send(new Uint8Array([1])),
  'ping frame': (socket) => socket.ping(),
  'pong frame': (socket) => socket.pong(),
}

/** Those that end a socket for reasons of their own, before any budget does. */
const ENDED_BY: Partial<Record<Repeatable, number>> = {
  connection_init: 4429,
  unknown: 4400,
  binary: 4400,
}

async function open(): Promise<{ socket: WebSocket; closed: Promise<number> }> {
  setup = await startLive({ ws: { maxSubscriptionsPerSocket: 1 } })
  // The first subscribe takes the only place, and the others are refused.
  setup.world.gate = new Promise(() => {})
  const socket = new WebSocket(setup.wsUrl, 'graphql-transport-ws', { perMessageDeflate: false })
  socket.on('error', () => {})
  onTestFinished(() => socket.terminate())
  const closed = new Promise<number>((resolve) => void socket.once('close', resolve))
  await new Promise((resolve) => void socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'connection_init' }))
  await new Promise((resolve) => void socket.once('message', resolve))
  return { socket, closed }
}

/** Not all at once: ws itself cuts off whoever has many pings unanswered. */
async function sendMany(socket: WebSocket, what: Repeatable, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    SEND[what](socket, number)
    if (number % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

async function answersPing(socket: WebSocket): Promise<void> {
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      if (String(data).includes('still there')) resolve()
    })
  })
  socket.send(JSON.stringify({ type: 'ping', payload: { text: 'still there' } }))
  await answered
}

describe('whatever a peer repeats has a budget', () => {
  it.each(Object.entries(MESSAGE_BUDGETS))(
    '%s, more than %d in a second: closed',
    async (name, perSecond) => {
      const what = name as Repeatable
      const { socket, closed } = await open()
      await sendMany(socket, what, perSecond + 1)
      expect(await closed).toBe(ENDED_BY[what] ?? 1008)
      await expect.poll(() => setup.live.sockets).toBe(0)
    },
  )

  const within = Object.entries(MESSAGE_BUDGETS).filter(
    ([name]) => ENDED_BY[name as Repeatable] === undefined,
  )
  it.each(within.filter(([name]) => name !== 'subscribe'))(
    '%s, %d a second, second after second: answered',
    async (name, perSecond) => {
      const { socket } = await open()
      for (let second = 0; second < 3; second++) {
        // The ping that asks whether it is there, and the pings of the server's own, count too.
        await sendMany(socket, name as Repeatable, perSecond - 5)
        await answersPing(socket)
        await setup.clock.advance(1_000)
      }
      expect(setup.live.sockets).toBe(1)
    },
  )

  it('pings that are read at once: one pong, with the data of the last', async () => {
    const { socket } = await open()
    const pongs: string[] = []
    socket.on('pong', (data) => pongs.push(String(data)))
    const frames = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0'))
    // One packet: the frames are masked with zeros.
    const ping = (data: string): Buffer =>
      Buffer.concat([Buffer.of(0x89, 0x82, 0, 0, 0, 0), Buffer.from(data)])
    const { _socket: stream } = socket as unknown as { readonly _socket: Writable }
    stream.write(Buffer.concat(frames.map(ping)))
    await expect.poll(() => pongs.at(-1)).toBe('99')
    expect(pongs.length).toBeLessThan(5)
    socket.ping('another')
    await expect.poll(() => pongs.at(-1)).toBe('another')
  })

  it('a message in more frames than it may have: closed', async () => {
    const { socket, closed } = await open()
    for (let number = 0; number <= MAX_FRAGMENTS; number++) socket.send('', { fin: false })
    expect([1006, 1008]).toContain(await closed)
  })
})
