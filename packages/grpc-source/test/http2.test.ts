import { constants, createSecureServer } from 'node:http2'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { createLedger, type HeldReply, processLedger, ReplyMemory } from '@vinyasa/core'
import { freePort, makeCertificate, waitUntil } from '@vinyasa/test-kit'
import { array, assert, nat, property, uint8Array } from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { GrpcSourceOptions } from '../src/options.ts'
import type { ResolvedEndpoint } from '@vinyasa/grpc-transport'
import type { Connection, ConnectionOptions } from '../../grpc-transport/src/grpc/connection.ts'
import { FrameReader } from '../../grpc-transport/src/grpc/frames.ts'
import { Peer } from '../../grpc-transport/src/grpc/peer.ts'
import { formatTimeout } from '../../grpc-transport/src/grpc/status.ts'
import { parseTarget } from '../../grpc-transport/src/grpc/target.ts'
import { createHttp2Transport } from '@vinyasa/grpc-transport'
import type { Transport } from '@vinyasa/grpc-transport'
import { disposables, source } from './harness.ts'
import { answer, frame, startWireServer, type WireHandler, type WireServer } from './wire-server.ts'

const REQUEST = Buffer.from('ask')
const CALL = { path: '/w.S/Get', metadata: [], timeoutMs: 10_000, signal: undefined }
const memory = (): ReplyMemory => new ReplyMemory(createLedger(1e9), 32 * 1024 * 1024)
const ok: WireHandler = (call) => answer(call, frame('reply'))

function transportTo(address: string, options: Partial<ResolvedEndpoint> = {}): Transport {
  return disposables().use(createHttp2Transport({ address, tls: undefined, channel: {}, ...options }))
}

async function serve(
  handler: WireHandler = ok,
  options: Parameters<typeof startWireServer>[1] = {},
): Promise<WireServer> {
  return disposables().use(await startWireServer(handler, options))
}

describe('messages', () => {
  it('are cut out of any pieces', () => {
    assert(
      property(
        array(uint8Array({ maxLength: 40 }), { maxLength: 6 }),
        array(nat(60), { maxLength: 20 }),
        (messages, cuts) => {
          const bytes = Buffer.concat(messages.map((message) => frame(message)))
          const seen: number[][] = []
          const reader = new FrameReader(100, ({ bytes: message }) => seen.push([...message]), memory())
          let from = 0
          for (const cut of [...cuts, bytes.length]) {
            reader.push(bytes.subarray(from, from + cut))
            from += cut
          }
          expect(seen).toEqual(messages.map((message) => [...message]))
          expect(reader.isBetweenMessages).toBe(true)
        },
      ),
    )
  })

  it('keep what they hold while others grow in the memory that they outgrew', () => {
    const spare = memory()
    const seen: Uint8Array[] = []
    const read = (): FrameReader => new FrameReader(-1, ({ bytes }) => seen.push(bytes), spare)
    const sizes = [2_000_000, 262_144, 262_145, 1_048_576, 700_000, 2_000_001]
    const sent = sizes.map((size, index) => frame(Buffer.alloc(size, index + 1)))
    // Two at a time, a piece of each in turn.
    for (let pair = 0; pair < sent.length; pair += 2) {
      const readers = [read(), read()]
      for (let from = 0; from < 2_100_000; from += 16_384)
        for (const [index, reader] of readers.entries())
          reader.push(sent[pair + index]!.subarray(from, from + 16_384))
    }
    seen.sort((a, b) => a[0]! - b[0]!)
    expect(seen.map(({ length }) => length)).toEqual(sizes)
    for (const [index, message] of seen.entries())
      expect(message.every((byte) => byte === index + 1)).toBe(true)
    expect(new Set(seen.map(({ buffer }) => buffer)).size).toBe(sizes.length)
    const outgrown = spare.take(262_144)
    expect(seen.some(({ buffer }) => buffer === outgrown.buffer)).toBe(false)
  })

  it('over the limit are refused by their prefix alone', () => {
    const reader = new FrameReader(3, () => {}, memory())
    reader.push(frame('abc'))
    expect(() => reader.push(frame('abcd').subarray(0, 5))).toThrow('channel.maxReceiveBytes allows only 3')
  })

  it('that are long count in the ledger until whoever asked has read them', async () => {
    const server = await serve((call) => answer(call, frame(Buffer.alloc(2_000_000))))
    const transport = transportTo(server.address)
    const before = processLedger().bytes
    let held: HeldReply | undefined
    await transport.unary({ ...CALL, keepReply: (one) => void (held = one) }, REQUEST)
    expect(processLedger().bytes - before).toBe(2_000_000)
    held?.leave()
    await transport.unary(CALL, REQUEST)
    expect(processLedger().bytes).toBe(before)
  })

  it('that are long wait for those before them', async () => {
    const [most, atOnce] = [4 * 1024 * 1024 - 100, 20]
    let [sent, waiting] = [0, 0]
    const handler: WireHandler = (call) => {
      sent++
      answer(call, frame(Buffer.alloc(most)))
    }
    const server = await serve(handler, { maxSessionMemory: 1_000 })
    const transport = transportTo(server.address)
    const kept: HeldReply[] = []
    const call = { ...CALL, keepReply: (one: HeldReply) => void kept.push(one) }
    const replies = Array.from({ length: atOnce }, async () => {
      waiting++
      await transport.unary(call, REQUEST)
      waiting--
    })
    await waitUntil(() => sent === atOnce && kept.length > 0 && processLedger().bytes >= 16 * 1024 * 1024)
    await sleep(200)
    expect(waiting).toBeGreaterThan(10)
    await waitUntil(() => {
      kept.pop()?.leave()
      return waiting === 0
    })
    for (const held of kept) held.leave()
    await Promise.all(replies)
  })
})

it.each([
  [0, '1m'],
  [1.2, '2m'],
  [99_999_999, '99999999m'],
  [100_000_000, '100000S'],
  [2_147_483_000, '2147483S'],
  [2_147_483_001, undefined],
  [Infinity, undefined],
])('a timeout of %d ms is %s', (ms, written) => expect(formatTimeout(ms)).toBe(written))

describe('targets', () => {
  it.each([
    ['10.0.0.1:80', '10.0.0.1:80', [{ host: '10.0.0.1', port: 80 }]],
    ['[::1]:80', '[::1]:80', [{ host: '::1', port: 80 }]],
    ['dns:///10.0.0.1:80', '10.0.0.1:80', [{ host: '10.0.0.1', port: 80 }]],
    ['dns:10.0.0.1', '10.0.0.1', [{ host: '10.0.0.1', port: 443 }]],
    [
      'ipv4:10.0.0.1:80,10.0.0.2',
      '10.0.0.1:80',
      [
        { host: '10.0.0.1', port: 80 },
        { host: '10.0.0.2', port: 443 },
      ],
    ],
    [
      'ipv6:[::1]:80,[::2]:81',
      '[::1]:80',
      [
        { host: '::1', port: 80 },
        { host: '::2', port: 81 },
      ],
    ],
    ['unix:/run/s', 'localhost', [{ path: '/run/s' }]],
    ['unix:///run/s', 'localhost', [{ path: '/run/s' }]],
    ['unix:s', 'localhost', [{ path: 's' }]],
  ])('%s', async (address, authority, addresses) => {
    const target = parseTarget(address)
    expect([target.authority, await target.resolve()]).toEqual([authority, addresses])
  })

  it.each([
    ['xds:///service', {}, 'only supported by the transport "grpc-js"'],
    ['unix-abstract:name', {}, 'only supported by the transport "grpc-js"'],
    ['dns://8.8.8.8/host:80', {}, 'write "host:port"'],
    ['host:99999', {}, 'write "host:port"'],
    ['host:80', { tls: { cert: 'no', key: 'no' } }, 'TLS options'],
    ['host:80', { channel: { raw: { 'grpc.keepalive_time_ms': 1 } } }, 'set transport: "grpc-js"'],
  ] satisfies readonly (readonly [string, Partial<GrpcSourceOptions>, string])[])(
    '%s with %j stops the start',
    async (endpoint, options, message) => {
      const protoText = {
        't.proto': `syntax = "proto3"; package t; import "graphql.proto"; message E { int32 e = 1; }
          service S { rpc Get(E) returns (E) { option (graphql.schema) = { name: "get" }; } }`,
      }
      const start = source({ protoText, endpoint, transport: 'http2', ...options })
      await expect(start).rejects.toMatchObject({
        code: 'GRPC_SOURCE_OPTIONS',
        message: expect.stringContaining(message),
      })
    },
  )
})

describe('addresses', () => {
  it('a name is looked up, and a socket file reached', async () => {
    const server = await serve()
    const named = transportTo(server.address.replace('127.0.0.1', 'dns:///localhost'))
    expect(await named.unary(CALL, REQUEST)).toHaveLength(5)
    expect(server.calls[0]?.headers[':authority']).toMatch(/^localhost:\d+$/)
    const folder = mkdtempSync(join(tmpdir(), 'grpc-unix-'))
    disposables().use(() => rmSync(folder, { recursive: true }))
    const local = await serve(ok, { listen: join(folder, 'socket') })
    expect(await transportTo(local.address).unary(CALL, REQUEST)).toHaveLength(5)
    expect(local.calls[0]?.headers[':authority']).toBe('localhost')
  })

  it('an unknown name is UNAVAILABLE and named', async () => {
    const call = transportTo('no-such-name.invalid:80', { channel: { connectTimeoutMs: 0 } }).unary(
      CALL,
      REQUEST,
    )
    await expect(call).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      message: expect.stringContaining('no-such-name.invalid:80 could not be resolved'),
    })
  })

  it('calls go round over several; one that is away is left out until it is back', async () => {
    const ports = [await freePort(), await freePort()]
    const [first, second] = await Promise.all(ports.map((listen) => startWireServer(ok, { listen })))
    disposables().use(() => first?.close())
    const transport = transportTo(`ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(',')}`)
    const areBothUsed = (): boolean => Boolean(first?.calls.length && second?.calls.length)
    await waitUntil(async () => (await transport.unary(CALL, REQUEST)) && areBothUsed())
    const before = [first?.calls.length ?? 0, second?.calls.length ?? 0]
    for (let call = 0; call < 10; call++) await transport.unary(CALL, REQUEST)
    expect([first?.calls.length, second?.calls.length]).toEqual(before.map((count) => count + 5))
    await second?.close()
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (let call = 0; call < 10; call++) await transport.unary(CALL, REQUEST)
    const back = await serve(ok, { listen: ports[1] ?? 0 })
    await waitUntil(async () => (await transport.unary(CALL, REQUEST)) && back.calls.length > 0)
  })

  it('a backend that is away is tried again after a pause, not by every call', async () => {
    const transport = transportTo(`127.0.0.1:${await freePort()}`)
    const causes = new Set<unknown>()
    for (let call = 0; call < 20; call++) {
      await transport.unary(CALL, REQUEST).catch((error: Error) => causes.add(error.cause))
    }
    // Every attempt has an error of its own; the calls during the pause share that of the last.
    expect(causes.size).toBeLessThan(10)
  })
})

it('pauses between attempts grow up to 700 ms, and begin anew once a connection stood', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const opened = { state: 'connecting', active: 0, limit: Infinity, isStuck: false } as Connection
  let events: Pick<ConnectionOptions, 'onReady' | 'onRetired'> | undefined
  const peer = new Peer({
    key: 'peer',
    maxConcurrentCalls: 1,
    maxConnections: 1,
    random: () => 0.5,
    connection(given) {
      events = given
      return opened
    },
    onChange() {},
    onLoss() {},
  })
  function pauseAfter(wasReady: boolean): number {
    events?.onRetired(opened, new Error('gone'), wasReady)
    const before = performance.now()
    while (!peer.connectMore()) vi.advanceTimersByTime(1)
    return performance.now() - before
  }
  expect(peer.connectMore()).toBe(true)
  expect(Array.from({ length: 7 }, () => pauseAfter(false))).toEqual([100, 160, 256, 410, 656, 700, 700])
  events?.onReady(opened)
  expect([pauseAfter(true), pauseAfter(false)]).toEqual([0, 100])
})

describe('connections', () => {
  it('GOAWAY for too many pings: the next connection pings half as often', async () => {
    const server = await serve(({ stream }, index) => {
      if (index > 0) return
      stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from('too_many_pings'))
    })
    const transport = transportTo(server.address, {
      channel: { keepalive: { timeMs: 100, timeoutMs: 5_000 } },
    })
    await expect(transport.unary(CALL, REQUEST)).rejects.toMatchObject({ status: 'UNAVAILABLE' })
    const before = server.pings
    await expect(transport.unary({ ...CALL, timeoutMs: 700 }, REQUEST)).rejects.toMatchObject({
      status: 'DEADLINE_EXCEEDED',
    })
    expect(server.pings).toBeGreaterThan(before)
    // 6 at the old pace.
    expect(server.pings - before).toBeLessThanOrEqual(3)
  })

  it('headers that HTTP/2 forbids fail their call alone', async () => {
    const server = await serve()
    const transport = transportTo(server.address)
    const metadata = [['connection', 'close']] as const
    await expect(transport.unary({ ...CALL, metadata }, REQUEST)).rejects.toMatchObject({
      status: 'INTERNAL',
    })
    expect(await transport.unary(CALL, REQUEST)).toHaveLength(5)
    expect(server.sessions).toHaveLength(1)
  })

  it('past what is wanted on one connection more are opened, and at the most calls share', async () => {
    const running: (() => void)[] = []
    const server = await serve((call, index) => running.push(() => ok(call, index)))
    const channel = { maxConcurrentCalls: 2, maxConnections: 2 }
    const transport = transportTo(server.address, { channel })
    const replies = Array.from({ length: 9 }, () => transport.unary(CALL, REQUEST))
    await waitUntil(() => running.length === 9)
    expect(server.sessions).toHaveLength(2)
    for (const end of running) end()
    expect(await Promise.all(replies)).toHaveLength(9)
  })

  it('requests that cannot be read end the call, at both ends', async () => {
    const server = await serve(() => {})
    async function* broken(): AsyncIterable<Uint8Array> {
      yield REQUEST
      throw new Error('no more')
    }
    const stream = transportTo(server.address).stream(CALL, broken())
    await expect(stream.next()).rejects.toMatchObject({ status: 'UNKNOWN' })
    await waitUntil(() => server.calls.every(({ stream: { destroyed } }) => destroyed))
  })

  it('close() lets running calls end and fails those that wait', async () => {
    const server = await serve((call, index) => void setTimeout(() => ok(call, index), 100))
    const transport = transportTo(server.address)
    const running = transport.unary(CALL, REQUEST)
    await waitUntil(() => server.calls.length === 1)
    transport.close()
    expect(await running).toHaveLength(5)
    const silent = transportTo(server.address)
    const waiting = silent.unary(CALL, REQUEST)
    silent.close()
    await expect(waiting).rejects.toMatchObject({ status: 'UNAVAILABLE', retryable: false })
    await waitUntil(() => server.sessions.every(({ destroyed }) => destroyed))
  })
})

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grpc-http2-'))
  const { key, cert } = makeCertificate(folder)
  rmSync(folder, { recursive: true })

  async function listening(server: ReturnType<typeof createTlsServer>): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    disposables().use(() => server.close())
    return (server.address() as AddressInfo).port
  }

  it('checks certificates against the name or the address, and asks for h2', async () => {
    const server = createSecureServer({ key, cert })
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {}).resume()
      answer({ stream, headers, body: Buffer.alloc(0) }, frame('reply'))
    })
    const port = await listening(server as never)
    for (const address of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      expect(await transportTo(address, { tls: { ca: cert } }).unary(CALL, REQUEST)).toHaveLength(5)
    }
    for (const tls of [{}, { ca: cert, serverName: 'other.test' }]) {
      await expect(transportTo(`127.0.0.1:${port}`, { tls }).unary(CALL, REQUEST)).rejects.toMatchObject({
        status: 'UNAVAILABLE',
      })
    }
  })

  it('a server without HTTP/2, and one without TLS, are UNAVAILABLE', async () => {
    const port = await listening(createTlsServer({ key, cert }, (socket) => socket.on('error', () => {})))
    await expect(
      transportTo(`127.0.0.1:${port}`, { tls: { ca: cert } }).unary(CALL, REQUEST),
    ).rejects.toMatchObject({ status: 'UNAVAILABLE', message: expect.stringContaining('ALPN') })
    const plain = await serve()
    await expect(
      transportTo(plain.address, { tls: { ca: cert } }).unary(CALL, REQUEST),
    ).rejects.toMatchObject({ status: 'UNAVAILABLE' })
  })
})
