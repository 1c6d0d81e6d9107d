import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import {
  createFakeClock,
  freePort,
  grpcError,
  spawnProcess,
  startTcpServer,
  waitUntil,
} from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { GrpcCallError } from '@vinyasa/grpc-transport'
import { createCaller } from '../src/runtime/call.ts'
import { backend, describeTransports, disposables, run, source, yogaWith } from './harness.ts'
import { startBytesServer } from './bytes-server.ts'
import { answer, frame, startWireServer } from './wire-server.ts'

const PROTO = `
syntax = "proto3";
package r;
import "graphql.proto";
service S {
  rpc Get(Req) returns (Res) { option (graphql.schema) = { name: "get" }; }
  rpc Put(Req) returns (Res) { option (graphql.schema) = { type: MUTATION name: "put" }; }
}
message Req { string id = 1; }
message Res { string text = 1; }
`
const GET = 'r.S.Get'

it(
  'a backend that was killed is found again within a second of its restart, over any transport',
  { retry: 2 },
  async () => {
    await Promise.all((['http2', 'grpc-js'] as const).map(isFoundAgain))
  },
)

async function isFoundAgain(transport: 'http2' | 'grpc-js'): Promise<void> {
  const up = await backend({ 'r.proto': PROTO }, { 'r.S/Get': () => ({ text: 'x' }) })
  const grpc = await source({
    protoText: { 'r.proto': PROTO },
    endpoint: up.address,
    transport,
    retry: { maxRetries: 0 },
  })
  await grpc.call(GET)
  await up.stop()
  const stopped = performance.now()
  while (performance.now() - stopped < 3_000) {
    await expect(grpc.call(GET)).rejects.toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE' } })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await up.restart()
  const restarted = performance.now()
  await waitUntil(() => grpc.call(GET), { timeoutMs: 5_000 })
  const recovery = performance.now() - restarted
  process.stderr.write(`recovery after restart, over ${transport}: ${Math.round(recovery)} ms\n`)
  expect(recovery).toBeLessThan(1_000)
}

describeTransports('faults of backends', (source) => {
  it(
    'a peer that accepts TCP and says nothing costs deadlines, and is left within five seconds of its recovery',
    { retry: 2 },
    async () => {
      const silent = await startTcpServer()
      const { port } = silent
      const grpc = await source({
        protoText: { 'r.proto': PROTO },
        endpoint: `127.0.0.1:${port}`,
        timeoutMs: 300,
      })
      // The deadline ends the first calls; after 900 ms the connection itself is given up.
      for (let call = 0; call < 3; call++) {
        await expect(grpc.call(GET)).rejects.toMatchObject({
          extensions: { code: expect.stringMatching(/TIMEOUT|SERVICE_UNAVAILABLE/) },
        })
      }
      await silent[Symbol.asyncDispose]()
      await backend({ 'r.proto': PROTO }, { 'r.S/Get': () => ({ text: 'x' }) }, { port })
      const restarted = performance.now()
      await waitUntil(() => grpc.call(GET), { timeoutMs: 8_000 })
      const recovery = performance.now() - restarted
      process.stderr.write(`recovery from a silent peer: ${Math.round(recovery)} ms\n`)
      expect(recovery).toBeLessThan(5_000)
    },
  )

  it(
    'a peer that accepts TCP and says nothing is UNAVAILABLE long before the deadline, for queries tried once',
    { retry: 2 },
    async () => {
      const silent = await startTcpServer()
      onTestFinished(() => silent[Symbol.asyncDispose]())
      const grpc = await source({ protoText: { 'r.proto': PROTO }, endpoint: `127.0.0.1:${silent.port}` })
      for (let call = 0; call < 2; call++) {
        const started = performance.now()
        await expect(grpc.call(GET)).rejects.toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE' } })
        const took = performance.now() - started
        process.stderr.write(`a silent peer was given up after: ${Math.round(took)} ms\n`)
        // 900 ms each; three attempts would take 2,700.
        expect(took).toBeLessThan(2_500)
      }
    },
  )

  it(
    'a frozen peer (SIGSTOP) is UNAVAILABLE after the keepalive, well before the deadline',
    { retry: 2 },
    async () => {
      const frozen = disposables().use(
        await spawnProcess({
          command: process.execPath,
          args: [fileURLToPath(new URL('frozen-server.mjs', import.meta.url))],
          ready: /listening on (\d+)/,
        }),
      )
      const address = `127.0.0.1:${frozen.ready?.[1]}`
      const grpc = await source({
        protoText: { 'r.proto': PROTO },
        endpoint: address,
        timeoutMs: 20_000,
        retry: { maxRetries: 0 },
        channel: { keepalive: { timeMs: 400, timeoutMs: 400 } },
      })
      await grpc.call(GET)
      frozen.stop()
      const before = performance.now()
      await expect(grpc.call(GET)).rejects.toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE' } })
      const took = performance.now() - before
      process.stderr.write(`UNAVAILABLE after SIGSTOP: ${Math.round(took)} ms\n`)
      expect(took).toBeLessThan(3_000)
      frozen.cont()
    },
  )

  it('UNAVAILABLE twice: a query succeeds, a mutation is sent once', async () => {
    let failures = 2
    const flaky = (): object => {
      if (failures-- > 0) throw grpcError(14, 'busy')
      return { text: 'x' }
    }
    const { address, callsOf } = await backend({ 'r.proto': PROTO }, { 'r.S/Get': flaky, 'r.S/Put': flaky })
    const yoga = yogaWith(await source({ protoText: { 'r.proto': PROTO }, endpoint: address }))
    expect(await run(yoga, '{ get { text } }')).toEqual({ data: { get: { text: 'x' } } })
    expect(callsOf('r.S/Get')).toHaveLength(3)
    failures = 2
    expect((await run(yoga, 'mutation { put { text } }')).errors[0].extensions.code).toBe(
      'SERVICE_UNAVAILABLE',
    )
    expect(callsOf('r.S/Put')).toHaveLength(1)
  })

  it('a 5 MB reply is a mapped error, and passes when the limit allows it', async () => {
    const reply = Buffer.concat([Buffer.from([0x0a, 0xc0, 0x96, 0xb1, 0x02]), Buffer.alloc(5_000_000, 'x')])
    const server = disposables().use(await startBytesServer('/r.S/Get', () => reply))
    const small = await source({ protoText: { 'r.proto': PROTO }, endpoint: server.address })
    await expect(small.call(GET)).rejects.toMatchObject({
      message:
        'The reply of the service is larger than 4194304 bytes; request less data, or split the operation',
      extensions: { code: 'RESPONSE_TOO_LARGE', limit: 4_194_304 },
      cause: { status: 'RESOURCE_EXHAUSTED' },
    })
    const silent = await source({
      protoText: { 'r.proto': PROTO },
      endpoint: server.address,
      channel: { maxSendBytes: 2 },
    })
    await expect(silent.call(GET, { id: 'long' })).rejects.toMatchObject({
      extensions: { code: 'BAD_USER_INPUT', limit: 2 },
    })
    const large = await source({
      protoText: { 'r.proto': PROTO },
      endpoint: server.address,
      channel: { maxReceiveBytes: 8_000_000 },
    })
    expect(((await large.call(GET)) as { text: string }).text).toHaveLength(5_000_000)
  })

  it.each([undefined, 'gzip', 'deflate'] as const)(
    'a 5 MB argument that the backend does not take is told as it tells it, compressed by %s',
    async (compression) => {
      const server = disposables().use(await startBytesServer('/r.S/Get', () => Buffer.alloc(0)))
      const grpc = await source({
        protoText: { 'r.proto': PROTO },
        endpoint: server.address,
        channel: { compression },
      })
      // Of its size when it is compressed, too.
      const id = compression === undefined ? 'x'.repeat(5_000_000) : randomBytes(6_000_000).toString('base64')
      for (const sent of compression === undefined ? [id] : [id, 'x'.repeat(5_000_000)]) {
        await expect(grpc.call(GET, { id: sent })).rejects.toMatchObject({
          extensions: { code: 'RATE_LIMITED', grpc: { status: 'RESOURCE_EXHAUSTED' } },
          cause: {
            message: expect.stringMatching(/^Received message (larger than max|that decompresses to)/),
          },
        })
      }
      expect(server.requests).toHaveLength(0)
    },
  )

  it('a reply that is 5 MB once it is read is a mapped error', async () => {
    const text = Buffer.concat([Buffer.from([0x0a, 0xc0, 0x96, 0xb1, 0x02]), Buffer.alloc(5_000_000, 'x')])
    const body = frame(gzipSync(text), 1)
    const server = disposables().use(
      await startWireServer((call) => answer(call, body, undefined, { 'grpc-encoding': 'gzip' })),
    )
    const grpc = await source({ protoText: { 'r.proto': PROTO }, endpoint: server.address })
    await expect(grpc.call(GET)).rejects.toMatchObject({
      extensions: { code: 'RESPONSE_TOO_LARGE', limit: 4_194_304 },
    })
  })

  it('a backend that is away gives a partial result and no crash', async () => {
    const grpc = await source({ protoText: { 'r.proto': PROTO }, endpoint: `127.0.0.1:${await freePort()}` })
    const result = await run(yogaWith(grpc), '{ get { text } __typename }')
    expect(result).toEqual({
      data: { get: null, __typename: 'Query' },
      errors: [
        expect.objectContaining({
          message: 'The service is unavailable',
          extensions: { code: 'SERVICE_UNAVAILABLE', grpc: { status: 'UNAVAILABLE' } },
        }),
      ],
    })
  })

  it('opens another connection past the 100 calls that a peer takes on one', async () => {
    const answers: (() => void)[] = []
    const server = disposables().use(
      await startBytesServer(
        '/r.S/Get',
        () => new Promise((resolve) => answers.push(() => resolve(new Uint8Array()))),
      ),
    )
    const grpc = await source({ protoText: { 'r.proto': PROTO }, endpoint: server.address })
    const pending = Array.from({ length: 250 }, (_, index) => grpc.call(GET, { id: String(index) }))
    // Behind one connection of 100 streams the others would wait for ever.
    await waitUntil(() => server.requests.length === 250)
    expect(server.peers.size).toBe(3)
    for (const answer of answers) answer()
    expect(await Promise.all(pending)).toHaveLength(250)
  })
})

describe('retries', () => {
  const call = {
    path: '/r.S/Get',
    request: new Uint8Array(),
    metadata: [],
    deadline: undefined,
    signal: undefined,
    maxRetries: 2,
  }
  const failing = (onCall: () => void): any => ({
    unary: () => {
      onCall()
      return Promise.reject(new GrpcCallError('UNAVAILABLE', 'down'))
    },
  })

  it('wait longer from one attempt to the next, with jitter', async () => {
    const clock = createFakeClock()
    const times: number[] = []
    const caller = createCaller({ clock, random: () => 1, retry: undefined })
    const result = caller(
      failing(() => times.push(clock.now())),
      call,
    ).catch((error: GrpcCallError) => error.status)
    await clock.advance(1_000)
    expect(await result).toBe('UNAVAILABLE')
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 50, 150])
    expect(clock.pending()).toBe(0)
  })

  it('end with the deadline', async () => {
    const clock = createFakeClock()
    let attempts = 0
    const caller = createCaller({ clock, random: () => 1, retry: undefined })
    const result = caller(
      failing(() => attempts++),
      { ...call, deadline: clock.now() + 60 },
    ).catch((error: GrpcCallError) => error.status)
    await clock.advance(1_000)
    expect([await result, attempts]).toEqual(['UNAVAILABLE', 2])
  })

  it('end when the client leaves', async () => {
    const clock = createFakeClock()
    const abort = new AbortController()
    const caller = createCaller({ clock, random: () => 1, retry: undefined })
    const result = caller(
      failing(() => {}),
      { ...call, signal: abort.signal },
    ).catch((error: GrpcCallError) => error.status)
    await clock.advance(10)
    abort.abort()
    expect([await result, clock.pending()]).toEqual(['CANCELLED', 0])
  })

  it('are given up while a backend stays away', async () => {
    const clock = createFakeClock()
    let attempts = 0
    const caller = createCaller({ clock, random: () => 1, retry: undefined })
    for (let round = 0; round < 100; round++) {
      const result = caller(
        failing(() => attempts++),
        call,
      ).catch(() => {})
      await clock.advance(200)
      await result
    }
    expect(attempts).toBeLessThan(112)
  }, 30_000)
})
