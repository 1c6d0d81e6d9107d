import { createInvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import { createFakeClock, grpcError, startTcpServer, waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import type { GrpcSourceOptions } from '../src/index.ts'
import { STATUS_NAMES } from '@vinyasa/grpc-transport'
import { backend, describeTransports, disposables, run, source as openSource, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3";
package o;
import "graphql.proto";
service S {
  rpc GetUser(Key) returns (User) { option (graphql.schema) = { name: "user" }; }
  rpc UpdateUser(Key) returns (User) { option (graphql.schema) = { type: MUTATION name: "updateUser" }; }
}
message Key { string id = 1; }
message User { string id = 1; string name = 2; }
`
const MUTATION = 'mutation { updateUser(id: "1") { name } }'

/** By these a service says that it did nothing. */
const REFUSALS = new Set([
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNAUTHENTICATED',
])

async function setup(
  handler: Parameters<typeof backend>[1][string],
  options: Partial<GrpcSourceOptions> = {},
  open: typeof openSource = openSource,
) {
  const clock = createFakeClock()
  const bus = createInvalidationBus()
  const batches: (readonly InvalidationEvent[])[] = []
  bus.subscribe((events) => void batches.push(events))
  const server = await backend(
    { 'o.proto': PROTO },
    { 'o.S/UpdateUser': handler, 'o.S/GetUser': () => ({ id: '1' }) },
  )
  const grpc = await open({
    protoText: { 'o.proto': PROTO },
    endpoint: server.address,
    bus,
    clock,
    ...options,
  })
  return { server, clock, bus, batches, grpc, yoga: yogaWith(grpc) }
}

describeTransports('a mutation that fails', (open) => {
  it.each(STATUS_NAMES.slice(1))('with %s', async (status) => {
    const { yoga, batches, clock } = await setup(
      () => {
        throw grpcError(STATUS_NAMES.indexOf(status), 'no')
      },
      {},
      open,
    )
    expect(await run(yoga, MUTATION)).toHaveProperty('errors')
    const counts = [batches.length]
    for (const ms of [999, 1, 3999, 1, 24_999, 1, 600_000]) {
      await clock.advance(ms)
      counts.push(batches.length)
    }
    expect(counts).toEqual(REFUSALS.has(status) ? [0, 0, 0, 0, 0, 0, 0, 0] : [1, 1, 2, 2, 3, 3, 4, 4])
    expect(clock.pending()).toBe(0)
  })
})

describe('a mutation that was never sent announces nothing', () => {
  it.each([
    ['an argument that no message can hold', 'mutation { updateUser(id: "\\uD800") { name } }', true],
    ['a backend that does not listen', MUTATION, false],
  ])('%s', async (_, document, isUp) => {
    const { yoga, batches, clock, server } = await setup(() => ({}))
    if (!isUp) await server.stop()
    expect(await run(yoga, document)).toHaveProperty('errors')
    expect(server.calls).toHaveLength(0)
    expect([batches.length, clock.pending()]).toEqual([0, 0])
  })

  it('a backend that accepts connections and never speaks', async () => {
    const peer = disposables().use(await startTcpServer())
    const { yoga, batches } = await setup(() => ({}), { endpoint: `127.0.0.1:${peer.port}` })
    expect(await run(yoga, MUTATION)).toHaveProperty('errors')
    expect(batches).toHaveLength(0)
  })
})

describe('a mutation of which nobody knows', () => {
  it('announces again after its deadline, when the backend commits late', async () => {
    const { yoga, batches, clock } = await setup(() => new Promise(() => {}), {
      // Long enough for a busy machine to send the call.
      methods: { 'o.S.UpdateUser': { timeoutMs: 500 } },
    })
    const { errors } = await run(yoga, MUTATION)
    expect(errors[0].extensions.code).toBe('TIMEOUT')
    expect(batches).toHaveLength(1)
    await clock.advance(30_000)
    expect(batches).toHaveLength(4)
    expect(batches[3]).toMatchObject([{ entityType: 'User' }])
  })

  it('announces when its connection is lost', async () => {
    const { yoga, batches, server } = await setup(() => new Promise(() => {}))
    const answer = run(yoga, MUTATION)
    await waitUntil(() => server.calls.length === 1)
    await server.stop()
    expect((await answer).errors[0].extensions.code).toBe('SERVICE_UNAVAILABLE')
    expect(batches).toHaveLength(1)
  })

  it('goes on when its client leaves, and announces what it changed; a query is cancelled', async () => {
    let commit = (): void => {}
    const { yoga, batches, server } = await setup(
      () => new Promise((resolve) => (commit = () => resolve({ id: '1' }))),
    )
    server.handle('o.S/GetUser', () => new Promise(() => {}))
    const client = new AbortController()
    const answers = Promise.allSettled([
      run(yoga, MUTATION, { signal: client.signal }),
      run(yoga, '{ user(id: "1") { name } }', { signal: client.signal }),
    ])
    await waitUntil(() => server.calls.length === 2)
    client.abort()
    await answers
    const [query] = server.callsOf('o.S/GetUser')
    const [mutation] = server.callsOf('o.S/UpdateUser')
    await waitUntil(() => query?.cancelledAt)
    expect(mutation?.cancelledAt).toBeUndefined()
    expect(batches).toHaveLength(0)
    commit()
    await waitUntil(() => batches.length === 1)
    expect(mutation?.cancelledAt).toBeUndefined()
  })

  it('is announced once more when the source is closed, and never after', async () => {
    const { yoga, batches, clock, grpc } = await setup(() => {
      throw grpcError(4, 'late')
    })
    for (let count = 0; count < 20; count++) await run(yoga, MUTATION)
    expect(batches).toHaveLength(20)
    // Those of all are one.
    expect(clock.pending()).toBe(3)
    await grpc.close()
    expect(batches).toHaveLength(21)
    expect(clock.pending()).toBe(0)
  })
})
