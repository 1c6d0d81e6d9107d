import { waitUntil } from '@vinyasa/test-kit'
import { Callers, CLIENT } from '@vinyasa/core'
import { createHttp2Transport, GrpcCallError, type TransportCall } from '@vinyasa/grpc-transport'
import { describe, expect, it } from 'vitest'
import type { GrpcSourceOptions } from '../src/index.ts'
import { disposables, run, source, yogaWith, type Yoga } from './harness.ts'
import { answer, frame, startWireServer, type WireCall } from './wire-server.ts'

const PROTO = `
syntax = "proto3";
package f;
service S {
  rpc GetItem(Key) returns (Item);
  rpc PutItem(Key) returns (Item);
  rpc WatchItem(Key) returns (stream Item);
}
message Key { string id = 1; }
message Item { string id = 1; }
`

const of = (client: string): object => ({ [CLIENT]: client })

/** A server that takes one call at a time, and holds it until the test lets it go. */
async function startBusy() {
  const held: WireCall[] = []
  const served: string[] = []
  const server = disposables().use(
    await startWireServer((call) => void held.push(call), { settings: { maxConcurrentStreams: 1 } }),
  )
  return {
    address: server.address,
    /** What it was asked for so far, in the order in which it was answered. */
    served,
    /** Answers one call. */
    async serveNext(): Promise<void> {
      const call = await waitUntil(() => {
        const [next] = held.splice(0, 1)
        // Of one that was cancelled there is nobody who reads it.
        return next?.stream.destroyed ? undefined : next
      })
      // The only field of the request.
      const id = call.body.subarray(7)
      served.push(id.toString())
      answer(call, frame(Buffer.concat([Buffer.of(0x0a, id.length), id])))
    },
    whenBusy: () => waitUntil(() => held.length > 0),
  }
}

/** An operation has got as far as it does without its calls. */
async function asked(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

type Busy = Awaited<ReturnType<typeof startBusy>>

function transportTo({ address }: Busy) {
  const transport = disposables().use(
    createHttp2Transport({ address, tls: undefined, channel: { maxConnections: 1 } }),
  )
  return (id: string, call: Partial<TransportCall> = {}): Promise<unknown> => {
    const request = Buffer.concat([Buffer.of(0x0a, id.length), Buffer.from(id)])
    const whole = { path: '/f.S/GetItem', metadata: [], timeoutMs: undefined, signal: undefined, ...call }
    const reply = transport.unary(whole, request)
    // Not all are waited for.
    reply.catch(() => {})
    return reply
  }
}

describe('calls that wait for a server at its limit', () => {
  it('take turns by client: one call waits for one of another client that has a thousand', async () => {
    const busy = await startBusy()
    const call = transportTo(busy)
    for (let turn = 0; turn < 1_000; turn++) void call(`ann ${turn}`, { caller: of('ann') })
    await busy.whenBusy()
    void call('bob', { caller: of('bob') })
    void call('of nobody')
    for (let turn = 0; turn < 5; turn++) await busy.serveNext()
    expect(busy.served).toEqual(['ann 0', 'ann 1', 'bob', 'of nobody', 'ann 2'])
  })

  it('leave at once when they are aborted, or their time is up', async () => {
    const busy = await startBusy()
    const call = transportTo(busy)
    const first = call('first', { caller: of('ann') })
    await busy.whenBusy()
    const controller = new AbortController()
    const waiting = [
      call('aborted', { caller: of('ann'), signal: controller.signal }),
      call('late', { caller: of('ann'), timeoutMs: 20 }),
    ]
    const last = call('last', { caller: of('ann') })
    controller.abort()
    const ends = await Promise.allSettled(waiting)
    expect(ends).toMatchObject([
      { reason: { status: 'CANCELLED', wasSent: false } },
      { reason: { status: 'DEADLINE_EXCEEDED', wasSent: false } },
    ])
    await busy.serveNext()
    await busy.serveNext()
    await Promise.all([first, last])
    expect(busy.served).toEqual(['first', 'last'])
  })

  it('are refused where half of the places are one client’s already; another client finds one', async () => {
    const busy = await startBusy()
    const call = transportTo(busy)
    void call('first', { caller: of('ann') })
    await busy.whenBusy()
    for (let turn = 0; turn < 16_384; turn++) void call(`ann ${turn}`, { caller: of('ann') })
    const refused = await call('one too many', { caller: of('ann') }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(GrpcCallError)
    expect(refused).toMatchObject({
      status: 'UNAVAILABLE',
      retryable: false,
      wasSent: false,
      ownLimit: { of: 'waiting' },
    })
    const bob = call('bob', { caller: of('bob') })
    for (let turn = 0; turn < 3; turn++) await busy.serveNext()
    await bob
    expect(busy.served).toEqual(['first', 'ann 0', 'bob'])
  })
})

describe('streams without an end', () => {
  async function startStreams(maxConcurrentStreams: number | undefined) {
    const held: WireCall[] = []
    const server = disposables().use(
      await startWireServer((call) => void held.push(call), { settings: { maxConcurrentStreams } }),
    )
    const transport = disposables().use(
      createHttp2Transport({ address: server.address, tls: undefined, channel: { maxConnections: 1 } }),
    )
    const call = (client: string, timeoutMs?: number): TransportCall => ({
      path: '/f.S/Watch',
      metadata: [],
      timeoutMs,
      signal: undefined,
      caller: of(client),
    })
    /** The errors of those that were refused. */
    const refused: unknown[] = []
    return {
      held,
      refused,
      transport,
      call,
      watch(client: string, timeoutMs?: number): AsyncIterableIterator<Uint8Array> {
        const replies = transport.stream(call(client, timeoutMs), [Buffer.alloc(0)])
        replies.next().catch((error: unknown) => refused.push(error))
        return replies
      },
    }
  }

  it('of one client hold half of the places that the server has for them, of several fewer', async () => {
    const { held, refused, watch } = await startStreams(12)
    for (let turn = 0; turn < 20; turn++) watch('ann')
    await waitUntil(() => held.length === 5 && refused.length === 15)
    for (let turn = 0; turn < 20; turn++) watch('bob')
    await waitUntil(() => held.length === 8 && refused.length === 32)
    for (const error of refused)
      expect(error).toMatchObject({ status: 'UNAVAILABLE', retryable: false, ownLimit: { of: 'streams' } })
  })

  it.each([2, 3, 12, 100])('of many clients leave calls a place at a server that takes %i', async (limit) => {
    const { held, refused, transport, call, watch } = await startStreams(limit)
    const left = Math.ceil(limit / 8)
    for (let client = 0; client < 2 * limit; client++) watch(`client ${client}`)
    await waitUntil(() => held.length === limit - left && refused.length === limit + left)
    const reply = transport.unary(call('eve'), Buffer.alloc(0))
    answer((await waitUntil(() => held[limit - left])) as WireCall, frame(Buffer.from('here')))
    expect(Buffer.from(await reply).toString()).toBe('here')
  })

  it('is one where the server takes one call', async () => {
    const { held, refused, watch } = await startStreams(1)
    watch('ann')
    await waitUntil(() => held.length + refused.length === 1)
    expect(refused).toEqual([])
  })

  it('give their places back when they end', async () => {
    const { held, refused, watch } = await startStreams(4)
    const first = watch('ann')
    const second = watch('ann')
    await waitUntil(() => held.length === 2)
    watch('ann')
    await waitUntil(() => refused.length === 1)
    await first.return?.()
    answer(held[1] as WireCall, Buffer.alloc(0))
    await second.next()
    watch('ann')
    watch('ann')
    await waitUntil(() => held.length === 4)
    expect(refused).toHaveLength(1)
  })

  it('are not counted where the server takes any number; those with a deadline wait', async () => {
    const any = await startStreams(undefined)
    for (let turn = 0; turn < 150; turn++) any.watch('ann')
    await waitUntil(() => any.held.length === 150)
    const few = await startStreams(2)
    for (let turn = 0; turn < 4; turn++) few.watch('ann', 60_000)
    await waitUntil(() => few.held.length === 2)
    for (const call of few.held.slice()) answer(call, Buffer.alloc(0))
    await waitUntil(() => few.held.length === 4)
    expect(few.refused).toEqual([])
  })
})

describe('calls of operations', () => {
  async function world(options: Partial<GrpcSourceOptions> = {}) {
    const busy = await startBusy()
    const grpc = await source({
      protoText: { 'f.proto': PROTO },
      expose: 'all',
      endpoint: busy.address,
      timeoutMs: 0,
      channel: { maxConnections: 1 },
      ...options,
    })
    return { busy, yoga: yogaWith(grpc) }
  }

  const itemsOf = (name: string, count: number): string =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: getItem(id: "${name} ${index}") { id }`).join(' ')} }`

  async function isServedWithin(turns: number, busy: Busy, id: string): Promise<boolean> {
    for (let turn = 0; turn < turns && !busy.served.includes(id); turn++) await busy.serveNext()
    return busy.served.includes(id)
  }

  it.each([true, false])(
    'wait in the turns of their operation, where nobody names a client; by plans: %s',
    async (plans) => {
      const { busy, yoga } = await world({ plans })
      void run(yoga, itemsOf('many', 200))
      await busy.whenBusy()
      const one = run(yoga, '{ getItem(id: "one") { id } }')
      await asked()
      await expect(isServedWithin(4, busy, 'one')).resolves.toBe(true)
      expect(await one).toEqual({ data: { getItem: { id: 'one' } } })
    },
  )

  it('that several share are served in the first turn of any of them', async () => {
    const { busy, yoga } = await world({ dedupe: 'inflight' })
    void run(yoga, itemsOf('many', 100))
    await busy.whenBusy()
    const one = run(yoga, '{ getItem(id: "many 99") { id } }')
    await asked()
    await expect(isServedWithin(4, busy, 'many 99')).resolves.toBe(true)
    expect(await one).toEqual({ data: { getItem: { id: 'many 99' } } })
  })

  it('that several share are served when the first has left', async () => {
    const { busy, yoga } = await world({ dedupe: 'inflight' })
    // Held by another operation: Node's server refuses a call on a connection whose last one was cancelled a moment ago.
    void run(yoga, '{ getItem(id: "held") { id } }')
    await busy.whenBusy()
    const first = new AbortController()
    const left = run(yoga, itemsOf('many', 100), { signal: first.signal }).catch(() => {})
    await asked()
    const one = run(yoga, '{ getItem(id: "many 99") { id } }')
    await asked()
    first.abort()
    await left
    await expect(isServedWithin(2, busy, 'many 99')).resolves.toBe(true)
    expect(await one).toEqual({ data: { getItem: { id: 'many 99' } } })
  })

  it('that several share know nobody who asked once they are over: they may be old by then', async () => {
    const callers: unknown[] = []
    const grpc = await source({
      protoText: { 'f.proto': PROTO },
      expose: 'all',
      endpoint: '127.0.0.1:1',
      dedupe: 'inflight',
      transport: () => ({
        unary: async ({ caller }) => {
          callers.push(caller)
          return Buffer.alloc(0)
        },
        stream: () => {
          throw new Error('nobody streams')
        },
        close() {},
      }),
    })
    await run(yogaWith(grpc), '{ getItem(id: "1") { id } }')
    expect(callers).toEqual([expect.any(Callers)])
    expect((callers[0] as Callers).first).toBeUndefined()
  })

  it('that found no place are told as this server’s own limit, and a mutation as one that did nothing', async () => {
    const grpc = await source({
      protoText: { 'f.proto': PROTO },
      expose: 'all',
      endpoint: '127.0.0.1:1',
      transport: () => ({
        unary: () =>
          Promise.reject(
            new GrpcCallError('UNAVAILABLE', 'no place', {
              retryable: false,
              wasSent: false,
              ownLimit: { of: 'waiting' },
            }),
          ),
        stream() {
          throw new GrpcCallError('UNAVAILABLE', 'no stream', { ownLimit: { of: 'streams' } })
        },
        close() {},
      }),
    })
    const yoga: Yoga = yogaWith(grpc)
    const events = await yoga.fetch('http://test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { watchItem { id } }' }),
    })
    const text = await events.text()
    expect(text).toContain('"code":"TOO_MANY_AT_ONCE"')
    expect(text).toContain('The limit of open streams to the service is reached')
    for (const query of ['{ getItem { id } }', 'mutation { putItem { id } }']) {
      const { errors } = await run(yoga, query)
      expect(errors).toMatchObject([{ extensions: { code: 'TOO_MANY_AT_ONCE' } }])
      expect(errors[0].message).toMatch(
        /calls of this client .* Send fewer or smaller operations at the same time, or try again/,
      )
      expect(errors[0].extensions).not.toHaveProperty('grpc')
    }
  })
})
