import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { handshakeOf } from '../src/protocol/handshake.ts'
import { USERS, startLive, subscribe, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

const init = { type: 'connection_init' }

it.each([{ documentId: 'abc' }, { extensions: { persistedQuery: {} } }, { query: null }, {}])(
  'subscribe without a query is an error of the operation, not of the socket: %j',
  async (payload) => {
    setup = await startLive()
    const socket = await setup.connect()
    socket.sendJson(init)
    await socket.nextJson()
    socket.sendJson({ type: 'subscribe', id: 'a', payload })
    expect(await socket.nextJson()).toMatchObject({ id: 'a', type: 'error' })
    socket.sendJson(subscribe('b', '{ plain }'))
    expect(await socket.nextJson()).toMatchObject({ id: 'b', type: 'next' })
  },
)

describe('close codes', () => {
  it.each<[string, number, readonly (string | Uint8Array | object)[]]>([
    ['text that is no JSON', 4400, [init, 'nonsense']],
    ['an array', 4400, [init, '[]']],
    ['null', 4400, [init, 'null']],
    ['a type nobody knows', 4400, [init, { type: 'start', id: 'a' }]],
    ['a type that only servers send', 4400, [init, { type: 'next', id: 'a', payload: {} }]],
    ['a binary message', 4400, [init, new TextEncoder().encode('{"type":"ping"}')]],
    ['complete without an id', 4400, [init, { type: 'complete' }]],
    ['subscribe without an id', 4400, [init, { type: 'subscribe', payload: { query: '{ plain }' } }]],
    ['a query that is no text', 4400, [init, { type: 'subscribe', id: 'a', payload: { query: 1 } }]],
    [
      'variables that are no object',
      4400,
      [init, { type: 'subscribe', id: 'a', payload: { query: '{ plain }', variables: 1 } }],
    ],
    ['subscribe before connection_init', 4401, [subscribe('a', '{ plain }')]],
    ['a second connection_init', 4429, [init, init]],
    ['an id that is in use', 4409, [init, subscribe('a', USERS), subscribe('a', USERS)]],
    ['a message over the limit', 1009, [init, `"${'x'.repeat(300_000)}"`]],
    ['a 10 MB frame', 1009, [init, 'x'.repeat(10_000_000)]],
  ])('%s → %i', async (_, code, messages) => {
    setup = await startLive()
    const socket = await setup.connect()
    for (const message of messages) {
      if (socket.frames.length === 0 && message !== init && messages.includes(init)) await socket.next()
      if (typeof message === 'string' || message instanceof Uint8Array) socket.send(message)
      else socket.sendJson(message)
    }
    expect(await socket.nextClose()).toMatchObject({ code })
    expect(setup.errors).toEqual([])
  })

  it('invalid UTF-8 → 1007', async () => {
    setup = await startLive()
    const socket = new WebSocket(setup.wsUrl, 'graphql-transport-ws')
    await once(socket, 'open')
    socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
    expect((await once(socket, 'close'))[0]).toBe(1007)
    expect(setup.errors).toEqual([])
  })

  it('a sub-protocol other than graphql-transport-ws → 4406', async () => {
    setup = await startLive()
    const socket = await connectRawWebSocket(setup.wsUrl, { protocol: null })
    expect(await socket.nextClose()).toMatchObject({ code: 4406 })
  })

  it('no connection_init in time → 4408', async () => {
    setup = await startLive()
    const socket = await setup.connect()
    await setup.clock.advance(3000)
    expect(await socket.nextClose()).toMatchObject({ code: 4408 })
  })

  it('onConnect says false → 4403; it throws → 4500, and the reason stays inside', async () => {
    setup = await startLive({
      ws: {
        onConnect: ({ connectionParams }) => {
          if (connectionParams?.['token'] === 'crash') throw new Error('secret')
          return connectionParams?.['token'] === 'good' && { hello: 'you' }
        },
      },
    })
    const refused = await setup.connect()
    refused.sendJson(init)
    expect(await refused.nextClose()).toEqual({ code: 4403, reason: 'Forbidden' })
    const crashed = await setup.connect()
    crashed.sendJson({ ...init, payload: { token: 'crash' } })
    expect(await crashed.nextClose()).toEqual({ code: 4500, reason: 'Internal server error' })
    expect(setup.errors).toMatchObject([{ message: 'secret' }])
    const welcome = await setup.connect()
    welcome.sendJson({ ...init, payload: { token: 'good' } })
    expect(await welcome.nextJson()).toEqual({ type: 'connection_ack', payload: { hello: 'you' } })
  })

  it('the server drains → 1001, and takes no more sockets', async () => {
    setup = await startLive({ realTime: true })
    const socket = await setup.ready()
    const closing = setup.live.close()
    expect(await socket.nextClose()).toMatchObject({ code: 1001 })
    await closing
    expect(setup.plugin.store.stats().subscriptions).toBe(0)
    await expect(connectRawWebSocket(setup.wsUrl)).rejects.toThrow(Error)
  })
})

describe('a faulty operation never closes the socket', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['a syntax error', '{ users', { message: expect.stringContaining('Syntax Error') }],
    ['an unknown field', '{ nothing }', { message: expect.stringContaining('nothing') }],
    ['an empty query', '', { message: expect.any(String) }],
    ['no operation', 'fragment f on Query { plain }', { message: expect.any(String) }],
    [
      'two operations and no name',
      'query A { plain } query B { plain }',
      { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } },
    ],
    [
      '@live on a field that is not live-capable',
      'query @live { plain }',
      { extensions: { code: 'LIVE_QUERY_NOT_ENABLED', field: 'plain' } },
    ],
    [
      '@live on a mutation',
      'mutation @live { rename(id: "1", name: "x") { id } }',
      { message: expect.stringContaining('@live') },
    ],
  ])('%s → error, an array of GraphQL errors', async (_, query, error) => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', query))
    const message = await socket.nextJson()
    expect(message).toMatchObject({ id: 'a', type: 'error', payload: [error] })
    socket.sendJson(subscribe('a', '{ plain }'))
    expect(await socket.takeJson(2)).toEqual([
      { id: 'a', type: 'next', payload: { data: { plain: 'plain' } } },
      { id: 'a', type: 'complete' },
    ])
  })

  it.each([
    ['missing', undefined],
    ['null', { id: null }],
    ['of another type', { id: {} }],
  ])('a live query whose variable is %s ends at once with the error', async (_, variables) => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', 'query ($id: ID!) @live { user(id: $id) { name } }', variables))
    expect(await socket.nextJson()).toMatchObject({
      id: 'a',
      type: 'error',
      payload: [{ message: expect.stringMatching(/\$id|ID cannot represent|type "ID!"/) }],
    })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, executions: 0 })
  })

  it('a live query that never succeeds ends with an error after 20 tries', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    setup.world.failure = new Error('password=hunter2')
    socket.sendJson(subscribe('a', USERS))
    expect(await socket.nextJson()).toMatchObject({ type: 'next', payload: { data: null } })
    await setup.clock.advance(100_000)
    expect(await socket.nextJson()).toEqual({
      id: 'a',
      type: 'error',
      payload: [expect.objectContaining({ message: 'Unexpected error.' })],
    })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
  })

  it('a live query whose first run fails is data null with errors, masked, and lives', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    setup.world.failure = new Error('password=hunter2')
    socket.sendJson(subscribe('a', USERS))
    const { payload } = await socket.nextJson()
    expect(payload).toMatchObject({
      data: null,
      is_initial: true,
      errors: [{ message: 'Unexpected error.' }],
    })
    expect(JSON.stringify(payload)).not.toContain('hunter2')
    setup.world.failure = undefined
    await setup.clock.advance(1000)
    expect((await socket.nextJson()).payload).toMatchObject({
      revision: 2,
      data: { users: { totalCount: 2 } },
    })
  })
})

describe('everything else of GraphQL on the same socket', () => {
  it('a query, a mutation and a subscription are served as graphql-transport-ws says', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('q', 'query ($s: String) { users(status: $s) { totalCount } }', { s: 'AWAY' }))
    expect(await socket.takeJson(2)).toEqual([
      { id: 'q', type: 'next', payload: { data: { users: { totalCount: 1 } } } },
      { id: 'q', type: 'complete' },
    ])
    socket.sendJson(subscribe('m', 'mutation { rename(id: "1", name: "Eve") { name } }'))
    expect(await socket.takeJson(2)).toEqual([
      { id: 'm', type: 'next', payload: { data: { rename: { name: 'Eve' } } } },
      { id: 'm', type: 'complete' },
    ])
    socket.sendJson(subscribe('s', 'subscription { countdown(from: 1) }'))
    expect(await socket.takeJson(3)).toEqual([
      { id: 's', type: 'next', payload: { data: { countdown: 1 } } },
      { id: 's', type: 'next', payload: { data: { countdown: 0 } } },
      { id: 's', type: 'complete' },
    ])
  })

  it('@live(if: false) is an ordinary query', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(
      subscribe('a', 'query ($live: Boolean!) @live(if: $live) { user(id: 1) { name } }', { live: false }),
    )
    expect(await socket.takeJson(2)).toEqual([
      { id: 'a', type: 'next', payload: { data: { user: { name: 'Ada' } } } },
      { id: 'a', type: 'complete' },
    ])
  })

  it('a query under way is cancelled when the client completes it, and when it leaves', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    setup.world.gate = new Promise(() => {})
    for (const id of ['a', 'b']) socket.sendJson(subscribe(id, '{ user(id: 1) { name } }'))
    socket.sendJson(subscribe('live', USERS))
    const signalOf = (n: number): AbortSignal => setup.world.contexts[n]!['request'].signal
    await expect.poll(() => setup.world.contexts.length).toBe(3)
    socket.sendJson({ id: 'a', type: 'complete' })
    await expect.poll(() => signalOf(0).aborted).toBe(true)
    expect(signalOf(1).aborted).toBe(false)
    socket.terminate()
    await expect.poll(() => signalOf(1).aborted && signalOf(2).aborted).toBe(true)
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
  })
})

describe('one id used again', () => {
  it('complete and subscribe with the same id in one burst: the second lives, the first is gone', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    for (let round = 0; round < 20; round++) {
      socket.sendJson({ id: 'a', type: 'complete' })
      socket.sendJson(subscribe('a', 'query @live { user(id: 1) { name } }'))
    }
    // What comes behind the burst is answered: all of it has been read.
    socket.sendJson(subscribe('b', '{ users { totalCount } }'))
    const sent = (): any[] => socket.frames.map((frame) => frame.json())
    await expect.poll(() => sent().some(({ id, type }) => id === 'b' && type === 'complete')).toBe(true)
    await expect.poll(() => setup.plugin.store.stats().subscriptions).toBe(1)
    await setup.clock.advance(2000)
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    const changed = (): any[] => sent().filter(({ payload }) => payload?.data?.user?.name === 'Eve')
    await expect.poll(() => changed().length).toBe(1)
    expect(changed()).toMatchObject([{ id: 'a', payload: { is_initial: false } }])
    // Nothing is said of the first, whose list has changed too.
    expect(sent().filter(({ payload }) => payload?.data?.users?.users)).toHaveLength(1)
    socket.sendJson({ id: 'a', type: 'complete' })
    await expect.poll(() => setup.plugin.store.stats().subscriptions).toBe(0)
  })
})

describe('floods', () => {
  it('subscribe and complete of an id whose operation has not ended: nothing piles up, the last one is served', async () => {
    setup = await startLive()
    let open = (): void => {}
    setup.world.gate = new Promise<void>((resolve) => (open = resolve))
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', '{ slow { name } }'))
    await expect.poll(() => setup.world.reads).toBe(1)
    for (let round = 0; round < 1000; round++) {
      socket.sendJson({ id: 'a', type: 'complete' })
      socket.sendJson(subscribe('a', '{ user(id: 1) { name } }'))
    }
    socket.sendJson({ type: 'ping' })
    expect(await socket.nextJson()).toEqual({ type: 'pong' })
    open()
    expect(await socket.takeJson(2)).toEqual([
      { id: 'a', type: 'next', payload: { data: { user: { name: 'Ada' } } } },
      { id: 'a', type: 'complete' },
    ])
    expect(setup.world.reads).toBe(2)
  })

  it('two subscribes of an id whose operation has not ended: 4409', async () => {
    setup = await startLive()
    setup.world.gate = new Promise(() => {})
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', '{ slow { name } }'))
    await expect.poll(() => setup.world.reads).toBe(1)
    socket.sendJson({ id: 'a', type: 'complete' })
    socket.sendJson(subscribe('a', '{ plain }'))
    socket.sendJson(subscribe('a', '{ plain }'))
    expect(await socket.nextClose()).toMatchObject({ code: 4409 })
  })

  it('5,000 refused operations of a client that does not read: it is cut off', async () => {
    setup = await startLive({ realTime: true })
    const socket = await setup.ready()
    socket.pause()
    // The answer quotes it.
    const text = JSON.stringify(subscribe('a', `{ ${'nope'.repeat(3_000)} }`))
    for (let index = 0; index < 5_000; index++) socket.send(text.replace('"a"', `"${index}"`))
    await expect.poll(() => setup.live.sockets, { timeout: 20_000 }).toBe(0)
  })
})

describe('limits', () => {
  it('operations over the limit of a socket are refused before they reach the server, completed ones counted', async () => {
    setup = await startLive({ ws: { maxSubscriptionsPerSocket: 3 } })
    let open = (): void => {}
    setup.world.gate = new Promise<void>((resolve) => (open = resolve))
    const socket = await setup.ready()
    const contexts = (): number => setup.world.contexts.length
    for (let n = 0; n < 50; n++) {
      socket.sendJson(subscribe(String(n), '{ users { totalCount } }'))
      if (n < 3) socket.sendJson({ id: String(n), type: 'complete' })
    }
    const refused = await socket.takeJson(44)
    expect(new Set(refused.map(({ type }) => type))).toEqual(new Set(['error']))
    await expect.poll(contexts).toBeLessThanOrEqual(6)
    open()
    expect((await socket.takeJson(6)).map(({ type }) => type)).toContain('next')
  })

  it('a client that ignores the close frame is cut off after three seconds', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.pause()
    socket.send('nonsense')
    await sleep(50)
    await setup.clock.advance(2_999)
    expect(setup.live.sockets).toBe(1)
    await setup.clock.advance(1)
    await expect.poll(() => setup.live.sockets).toBe(0)
  })

  it('1,000 subscriptions on a socket: 100, then error LIVE_QUERY_LIMIT; the socket lives', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    for (let n = 0; n < 1000; n++) socket.sendJson(subscribe(String(n), USERS))
    const answers = await socket.takeJson(1000)
    const errors = answers.filter(({ type }) => type === 'error')
    expect(errors).toHaveLength(900)
    expect(errors[0].payload).toMatchObject([{ extensions: { code: 'LIVE_QUERY_LIMIT' } }])
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 100, groups: 1 })
    expect(setup.world.reads).toBeLessThanOrEqual(2)
    socket.sendJson({ id: '0', type: 'complete' })
    socket.sendJson(subscribe('more', USERS))
    expect(await socket.nextJson()).toMatchObject({ id: 'more', type: 'next' })
  })

  it('the server’s limit and a field’s max_connections are counted over all sockets', async () => {
    setup = await startLive({
      plugin: { maxSubscriptions: 3, fields: { users: {}, user: { maxConnections: 1 } } },
    })
    const [one, two] = [await setup.ready(), await setup.ready()]
    one.sendJson(subscribe('a', 'query @live { user(id: 1) { name } }'))
    expect(await one.nextJson()).toMatchObject({ type: 'next' })
    two.sendJson(subscribe('a', 'query @live { user(id: 2) { name } }'))
    expect(await two.nextJson()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'LIVE_QUERY_LIMIT', limit: 1 } }],
    })
    for (const id of ['b', 'c', 'd']) two.sendJson(subscribe(id, USERS))
    const answers = await two.takeJson(3)
    expect(answers.map(({ type }) => type).sort()).toEqual(['error', 'next', 'next'])
    one.terminate()
    await expect.poll(() => setup.plugin.store.stats().subscriptions).toBe(2)
    two.sendJson(subscribe('e', 'query @live { user(id: 2) { name } }'))
    expect(await two.nextJson()).toMatchObject({ type: 'next' })
  })
})

describe('keep-alive and paths', () => {
  it('pings, and cuts off a socket that has not answered by the next ping', async () => {
    setup = await startLive()
    const [alive, dead] = [await setup.ready(), await setup.connect({ ws: { autoPong: false } })]
    dead.sendJson(init)
    await dead.nextJson()
    await setup.clock.advance(12_000)
    await new Promise((resolve) => setTimeout(resolve, 25))
    await setup.clock.advance(12_000)
    expect(await dead.nextClose()).toMatchObject({ code: 1006 })
    alive.sendJson({ type: 'ping' })
    expect(await alive.nextJson()).toEqual({ type: 'pong' })
  })

  it('refuses another path with 404', async () => {
    setup = await startLive()
    await expect(connectRawWebSocket(setup.wsUrl.replace('/graphql/live', '/other'))).rejects.toMatchObject({
      statusCode: 404,
    })
  })
})

describe('hostile upgrades', () => {
  async function upgrade(path: string, host: string): Promise<Socket> {
    const { port } = setup.server.address() as AddressInfo
    // A client that keeps its half of the connection open.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    )
    return socket
  }
  const open = (): Promise<number> =>
    new Promise((resolve, reject) =>
      setup.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )

  it.each(['a b', '[', 'host:99999', 'user:password@host', ''])(
    'with the host "%s" is answered',
    async (host) => {
      setup = await startLive()
      const socket = await upgrade('/graphql/live', host)
      const [bytes] = await once(socket, 'data')
      socket.destroy()
      expect(String(bytes)).toMatch(/^HTTP\/1\.1 101 /)
    },
  )

  it('with headers that end the process in older Nodes, named __proto__ or with a space, is read', () => {
    const request = {
      url: '/graphql/live',
      headers: { host: 'x' },
      rawHeaders: ['Host', 'x', '__proto__', 'y', 'A', '1', 'a', '2', 'X ', '3', 'Upgrade', 'websocket'],
      socket: {},
      get headersDistinct(): never {
        throw new TypeError('dest[field].push is not a function')
      },
    }
    const { url, headers } = handshakeOf(request as unknown as IncomingMessage)
    expect([url, ...headers]).toEqual([
      'http://x/graphql/live',
      ['__proto__', 'y'],
      ['a', '1, 2'],
      ['host', 'x'],
    ])
  })

  it('refused, by a client that never ends: the socket is let go', async () => {
    setup = await startLive()
    const socket = await upgrade('/elsewhere', 'x')
    const [bytes] = await once(socket, 'data')
    expect(String(bytes)).toMatch(/^HTTP\/1\.1 404 /)
    await expect.poll(open).toBe(0)
  })
})

describe('a request that asks for another protocol than WebSocket, as those of Java do', () => {
  const body = '{"query":"{ plain }"}'
  async function post(): Promise<Socket> {
    const { port } = setup.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.write(
      'POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
        `HTTP2-Settings: AAEAAEAA\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    return socket
  }

  it('is served as if it had not', async () => {
    setup = await startLive()
    const [bytes] = await once(await post(), 'data')
    expect(String(bytes)).toMatch(/^HTTP\/1\.1 200 .*\{"data":\{"plain":"plain"\}\}$/s)
  })

  it('is left to whoever else listens to upgrades', async () => {
    setup = await startLive()
    setup.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\n\r\n'))
    const [bytes] = await once(await post(), 'data')
    expect(String(bytes)).toMatch(/^HTTP\/1\.1 426 /)
  })
})

describe('frames', () => {
  it('carry any text, in the id as in the data, as one text frame of valid UTF-8', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    const text = 'naïve “日本” 🎉 \u2028 "quoted" \\ \u0000'
    await setup.changeUser('1', { name: text })
    socket.sendJson(subscribe(text, USERS))
    const frame = await socket.next()
    expect(frame.binary).toBe(false)
    expect(frame.json()).toMatchObject({
      id: text,
      payload: { id: text, data: { users: { users: [{ name: text }, {}] } } },
    })
    expect(Buffer.from(frame.text, 'utf8').equals(frame.bytes)).toBe(true)
  })
})
