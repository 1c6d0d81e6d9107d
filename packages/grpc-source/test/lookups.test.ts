import { createServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createFakeClock, waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import type { Connection } from '../../grpc-transport/src/grpc/connection.ts'
import { createConnector } from '../../grpc-transport/src/grpc/connector.ts'
import { Pool } from '../../grpc-transport/src/grpc/pool.ts'
import type { SocketAddress } from '../../grpc-transport/src/grpc/target.ts'

/** A server on an address of its own, with one port for all of them. */
async function listen(host: string, port = 0): Promise<{ readonly address: { host: string; port: number } }> {
  const server = createServer()
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  await new Promise<void>((resolve) => void server.listen(port, host, resolve))
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return { address: { host, port: (server.address() as AddressInfo).port } }
}

/** A pool of a name whose addresses the test says. */
async function world({ lookupEveryMs = 30_000 } = {}) {
  const { address: a } = await listen('127.0.0.1')
  const { address: b } = await listen('127.0.0.2', a.port)
  const clock = createFakeClock()
  const name = { addresses: [a] as readonly SocketAddress[], fails: false, lookups: 0 }
  const { connection } = createConnector({ address: 'users:80', tls: undefined, channel: {} })
  const places = new WeakMap<Connection, string>()
  const pool = new Pool({
    target: {
      authority: 'users:80',
      hostName: 'users',
      isNamed: true,
      async resolve() {
        name.lookups++
        if (name.fails) throw new Error('no answer')
        return name.addresses
      },
    },
    lookupEveryMs,
    clock,
    connectTimeoutMs: 0,
    maxConcurrentCalls: 100,
    maxConnections: 8,
    random: () => 0.5,
    connection(address, events) {
      const opened = connection(address, events)
      places.set(opened, (address as { host: string }).host)
      return opened
    },
  })
  onTestFinished(() => pool.close())
  const call = (): Promise<string> =>
    new Promise((begin, end) =>
      pool.run({
        isEndless: false,
        begin: (connection) => begin(places.get(connection) ?? ''),
        end,
      }),
    )
  /** Where calls go, from fewest to most. */
  const calls = async (count: number): Promise<readonly string[]> => {
    const found: string[] = []
    for (let at = 0; at < count; at++) found.push(await call())
    return found
  }
  return { a, b, clock, name, call, calls }
}

it('a name that moves while the old address answers is followed, and calls go on meanwhile', async () => {
  const { b, clock, name, calls } = await world()
  expect(new Set(await calls(5))).toEqual(new Set(['127.0.0.1']))
  name.addresses = [b]
  await clock.advance(29_000)
  expect(new Set(await calls(5))).toEqual(new Set(['127.0.0.1']))
  expect(name.lookups).toBe(1)
  await clock.advance(1_000)
  // The one that finds the name old begins at once.
  expect(await calls(1)).toEqual(['127.0.0.1'])
  await waitUntil(() => name.lookups === 2)
  expect(new Set(await calls(5))).toEqual(new Set(['127.0.0.2']))
})

it('addresses that are added get their share', async () => {
  const { a, b, clock, name, calls } = await world()
  await calls(1)
  name.addresses = [a, b]
  await clock.advance(30_000)
  await calls(1)
  await waitUntil(async () => (await calls(2)).includes('127.0.0.2'))
  const places = await calls(100)
  expect(places.filter((place) => place === '127.0.0.2')).toHaveLength(50)
})

it('a lookup that fails keeps what is known', async () => {
  const { clock, name, calls } = await world()
  await calls(1)
  name.fails = true
  await clock.advance(30_000)
  await calls(1)
  await waitUntil(() => name.lookups === 2)
  expect(new Set(await calls(20))).toEqual(new Set(['127.0.0.1']))
  expect(name.lookups).toBe(2)
})

it('0 looks up only when a connection is lost', async () => {
  const { clock, name, calls } = await world({ lookupEveryMs: 0 })
  await calls(1)
  await clock.advance(3_600_000)
  await calls(5)
  expect(name.lookups).toBe(1)
})
