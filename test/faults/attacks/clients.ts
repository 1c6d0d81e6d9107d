import { setImmediate } from 'node:timers/promises'
import { hostileRequests } from '../hostile/requests.ts'
import { hostileSocket } from '../hostile/web-socket.ts'
import type { Attack, AttackRun } from './attack.ts'
import { ANOTHER_ADDRESS, drained, frame, open, openWebSocket, pause, post, goneWithin } from './wire.ts'

/** Some 150 kB, at little cost once it is cached. */
const LARGE = `{ ${Array.from({ length: 30 }, (_, n) => `a${n}: users(limit: 100) { users { id name } }`).join(' ')} }`
const DEFERRED = '{ users(limit: 100) { users { id ... @defer { name } } } }'
/** Not from the cache. */
const FRESH = { headers: 'Cache-Control: no-cache\r\n' }
/** Its backend takes a third of a second. */
const SLOW = '{ user(id: "1") { id name profile { bio } } }'

/** So many at once, each again when it is over. */
export async function clients(
  count: number,
  { signal }: AttackRun,
  run: (client: number) => Promise<void>,
): Promise<void> {
  const again = async (_: unknown, client: number): Promise<void> => {
    while (!signal.aborted) {
      await run(client)
      await setImmediate()
    }
  }
  await Promise.all(Array.from({ length: count }, again))
}

async function pipeline(run: AttackRun, request: string): Promise<void> {
  const socket = await open(run.target, run.signal)
  const many = request.repeat(200)
  while (!socket.destroyed && !run.signal.aborted) {
    socket.write(many)
    await drained(socket)
    await setImmediate()
  }
}

const megabyte = (text: string): string => text.repeat(Math.floor(1_000_000 / text.length))
const bodies: readonly string[] = [
  `{"query":"{ __typename }"${megabyte(' ')}}`,
  `[${megabyte('1,')}1]`,
  `{"query":"query($v: String) { x(v: $v) }","variables":{"v":[${megabyte('1,')}1]}}`,
  JSON.stringify({ query: `{ ${megabyte('a')} }` }),
  JSON.stringify({ query: `{ getProduct(id: "${megabyte('a')}") { nope } }` }),
  JSON.stringify({
    query: 'query($id: Int!) { getProduct(id: $id) { id } }',
    variables: { id: megabyte('a') },
  }),
]
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

/** 20 kB of a part that says nothing of itself: the parser of forms buffers less. */
const FORM = `--b\r\n\r\n${'x'.repeat(20_000)}\r\n--b--\r\n`
const HEADLESS = `POST /graphql HTTP/1.1\r\nHost: x\r\nx-graphql-csrf: 1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${FORM.length}\r\n\r\n${FORM}`

/** One address takes 2,000 places, and keeps them for as long as it is let. */
function occupy(run: AttackRun, request: string): Promise<void> {
  return clients(2_000, run, async (client) => {
    await pause(client / 2, run.signal)
    const socket = await open(run.target, run.signal, ANOTHER_ADDRESS)
    socket.resume().write(request)
    await goneWithin(20_000, socket, run.signal)
    socket.destroy()
    await pause(500, run.signal)
  })
}

/** What clients do to a server, each for as long as it is let. */
export const clientAttacks: readonly Attack[] = [
  {
    name: 'one connection pipelines without reading',
    run: (run) => clients(1, run, () => pipeline(run, post(JSON.stringify({ query: SLOW }), FRESH))),
  },
  {
    name: '20 connections pipeline without reading',
    run: (run) => clients(20, run, () => pipeline(run, post(JSON.stringify({ query: SLOW }), FRESH))),
  },
  {
    name: '300 clients do not read deferred answers',
    run: (run) =>
      clients(300, run, async (client) => {
        await pause(client * 10, run.signal)
        const socket = await open(run.target, run.signal)
        socket.pause()
        const headers = 'Accept: multipart/mixed, application/json\r\n'
        socket.write(post(JSON.stringify({ query: LARGE }), { headers }).repeat(30))
        socket.write(post(JSON.stringify({ query: DEFERRED }), { headers }))
        await pause(20_000, run.signal)
        socket.destroy()
      }),
  },
  {
    name: 'bursts of 5,000 subscribes on a socket',
    run: (run) =>
      clients(2, run, async () => {
        const socket = await openWebSocket(run.target, run.signal)
        socket.resume()
        const subscribes = Array.from({ length: 5000 }, (_, id) =>
          frame(JSON.stringify({ id: String(id), type: 'subscribe', payload: { query: '{ __typename }' } })),
        )
        socket.write(Buffer.concat(subscribes))
        await drained(socket)
        await pause(500, run.signal)
        socket.destroy()
      }),
  },
  {
    name: '200 sockets with 20 queries each, most of which do not read',
    run: (run) =>
      clients(200, run, async (client) => {
        const socket = await openWebSocket(run.target, run.signal)
        if (client % 4 === 0) socket.resume()
        else socket.pause()
        for (let id = 0; id < 20; id++) {
          const payload = { query: '{ users(limit: 100) { users { id name } } }' }
          socket.write(frame(JSON.stringify({ id: String(id), type: 'subscribe', payload })))
        }
        await pause(5_000, run.signal)
        socket.destroy()
      }),
  },
  {
    name: 'close frames are ignored',
    run: (run) =>
      clients(50, run, async () => {
        const socket = await openWebSocket(run.target, run.signal)
        socket.pause()
        socket.write(frame('nonsense'))
        await pause(5_000, run.signal)
        socket.destroy()
      }),
  },
  {
    name: 'readiness in a loop',
    run: (run) =>
      clients(20, run, async () => {
        const socket = await open(run.target, run.signal)
        socket.resume()
        for (let turn = 0; turn < 50 && !run.signal.aborted; turn++) {
          socket.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10))
          await drained(socket)
          await pause(5, run.signal)
        }
        socket.destroy()
      }),
  },
  {
    name: 'bodies of a megabyte and variables 10,000 deep',
    run: (run) =>
      clients(2, run, async () => {
        const socket = await open(run.target, run.signal)
        socket.resume()
        const deep = `{"query":"query($v: String) { x(v: $v) }","variables":{"v":${nested(10_000)}}}`
        socket.write(post(run.random.chance(0.2) ? deep : run.random.pick(bodies)))
        await drained(socket)
        await pause(100, run.signal)
        socket.destroy()
      }),
  },
  {
    name: '2,000 forms with a part without a head',
    run: (run) => occupy(run, HEADLESS),
  },
  {
    name: '2,000 connections of one address, each with half a request',
    run: (run) => occupy(run, post(JSON.stringify({ query: SLOW })).slice(0, -9)),
  },
  {
    name: 'clients leave as soon as they have asked',
    run: (run) =>
      clients(20, run, async () => {
        const socket = await open(run.target, run.signal)
        socket.write(post(JSON.stringify({ query: SLOW })).repeat(5))
        await pause(run.random.below(20), run.signal)
        socket.resetAndDestroy()
        await pause(100, run.signal)
      }),
  },
  {
    name: 'requests of any form',
    run: (run) =>
      clients(10, run, async () => {
        const socket = await open(run.target, run.signal)
        socket.resume()
        socket.write(run.random.chance(0.7) ? hostileRequests(run.random) : hostileSocket(run.random))
        await pause(20 + run.random.below(30), run.signal)
        if (run.random.chance(0.3)) socket.resetAndDestroy()
        else socket.destroy()
      }),
  },
]
