import { makeExecutableSchema } from '@graphql-tools/schema'
import {
  createDisposables,
  createFakeClock,
  requestMultipart,
  startGrpcBackend,
  startRestBackend,
  waitUntil,
} from '@vinyasa/test-kit'
import { type Client, credentials, makeGenericClientConstructor } from '@grpc/grpc-js'
import { GraphQLScalarType } from 'graphql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from './support/listen.ts'
import { createTestServer, partsOf } from './support/server.ts'

interface Context {
  readonly request: Request
}

/** The signal of the fragment that the field is in; other executors may have none. */
interface Info {
  readonly signal?: AbortSignal
}

/** Fields that never answer, and tell when their call is cancelled. */
function createHangingServer(options = {}) {
  const clock = createFakeClock()
  const cancelled: string[] = []
  const hang = (name: string, { request }: Context, { signal = request.signal }: Info) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        cancelled.push(name)
        reject(new Error('cancelled'))
      }),
    )
  const schema = makeExecutableSchema({
    typeDefs: /* GraphQL */ `
      type Query {
        fast: String
        hangs(name: String!): String
        things: [Thing]
      }
      type Thing {
        id: ID
        hangs(name: String!): String
      }
    `,
    resolvers: {
      Query: {
        fast: () => 'fast',
        hangs: (_: unknown, { name }: { name: string }, context: Context, info: Info) =>
          hang(name, context, info),
        things: () => [{ id: '1' }, { id: '2' }],
      },
      Thing: {
        hangs: ({ id }: { id: string }, { name }: { name: string }, context: Context, info: Info) =>
          hang(name + id, context, info),
      },
    },
  })
  return { ...createTestServer({ options, internals: { clock }, schema }), clock, cancelled }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a fragment that hangs', () => {
  it('is answered after fragment_timeout_ms, its calls are cancelled, the others go on', async () => {
    const server = createHangingServer()
    const response = await server.post(
      '{ fast ... @defer(label: "hung") { hangs(name: "a") } ... @defer(label: "fine") { again: fast } }',
    )
    const body = response.text()
    await settle()
    await server.clock.advance(29_999)
    expect(server.cancelled).toEqual([])
    await server.clock.advance(1)
    expect(server.cancelled).toEqual(['a'])
    const text = await body
    expect(partsOf(text)).toEqual([
      { data: { fast: 'fast' }, hasNext: true },
      { incremental: [{ data: { again: 'fast' }, path: [], label: 'fine' }], hasNext: true },
      {
        incremental: [
          {
            data: null,
            path: [],
            label: 'hung',
            errors: [
              {
                message: 'The deferred fragment was not ready in time: it took longer than 30000 ms.',
                path: [],
                extensions: { code: 'DEFER_FRAGMENT_TIMEOUT' },
              },
            ],
          },
        ],
        hasNext: false,
      },
    ])
    expect(text.endsWith('\r\n-----\r\n')).toBe(true)
    expect(server.clock.pending()).toBe(0)
  })

  it('on the items of a list has one timer, next to that of the heartbeat, and a patch an item', async () => {
    const server = createHangingServer({ fragmentTimeoutMs: 1_000, maxTotalTimeoutMs: 0 })
    const response = await server.post('{ things { id ... @defer { hangs(name: "t") } } }')
    const body = response.text()
    await settle()
    expect(server.clock.pending()).toBe(2)
    await server.clock.advance(1_000)
    const [, last] = partsOf(await body)
    expect(last.incremental.map(({ path }: any) => path)).toEqual([
      ['things', 0],
      ['things', 1],
    ])
    expect(server.cancelled).toEqual(['t1', 't2'])
  })

  it('starts nothing more of itself once its time is up', async () => {
    const clock = createFakeClock()
    const calls: string[] = []
    let release: (value: unknown) => void = () => undefined
    const schema = makeExecutableSchema({
      typeDefs: 'type Query { fast: String late: Late } type Late { after: String }',
      resolvers: {
        Query: { fast: () => 'fast', late: () => new Promise((resolve) => (release = resolve)) },
        Late: { after: () => void calls.push('after') },
      },
    })
    const body = createTestServer({ schema, internals: { clock } }).text(
      '{ fast ... @defer { late { after } } }',
    )
    await settle()
    await clock.advance(30_000)
    expect(partsOf(await body)[1].incremental[0].data).toBeNull()
    release({})
    await settle()
    expect(calls).toEqual([])
  })

  it('that comes later under the same directive has the whole time', async () => {
    const clock = createFakeClock()
    const release: Record<string, (value: unknown) => void> = {}
    const wait = (_: unknown, { name }: { name: string }) =>
      new Promise((resolve) => (release[name] = resolve))
    const schema = makeExecutableSchema({
      typeDefs:
        'type Query { fast: String thing(name: String!): Thing } type Thing { wait(name: String!): String }',
      resolvers: { Query: { fast: () => 'fast', thing: wait }, Thing: { wait } },
    })
    const query = `{
      fast
      ... @defer { one: thing(name: "one") { ...Inner } }
      ... @defer { two: thing(name: "two") { ...Inner } }
    }
    fragment Inner on Thing { ... @defer(label: "inner") { wait(name: "inner") } }`
    let isAnswered = false
    const text = createTestServer({ schema, internals: { clock } })
      .text(query)
      .finally(() => (isAnswered = true))
    const pass = async (ms: number) => {
      await clock.advance(ms)
      await settle()
    }
    await settle()
    release['one']?.({})
    await settle()
    release['inner']?.('done')
    await pass(20_000)
    release['two']?.({})
    await settle()
    await pass(29_999)
    expect(isAnswered).toBe(false)
    await pass(1)
    const inner = partsOf(await text)
      .flatMap(({ incremental }) => incremental ?? [])
      .filter(({ label }) => label === 'inner')
    expect(inner.map(({ path, data, errors }) => ({ path, data, at: errors?.[0].path }))).toEqual([
      { path: ['one'], data: { wait: 'done' }, at: undefined },
      { path: ['two'], data: null, at: ['two'] },
    ])
    expect(clock.pending()).toBe(0)
  })

  it('in the pending format is completed with the error', async () => {
    const server = createHangingServer({ fragmentTimeoutMs: 1_000 })
    const response = await server.post('{ fast ... @defer { hangs(name: "a") } }', {
      accept: 'multipart/mixed;incrementalSpec=v0.2',
    })
    const body = response.text()
    await settle()
    await server.clock.advance(1_000)
    expect(partsOf(await body)[1]).toEqual({
      completed: [{ id: '0', errors: [expect.objectContaining({ message: expect.any(String) })] }],
      hasNext: false,
    })
  })
})

describe('max_total_timeout_ms', () => {
  it('answers every open fragment, says hasNext false and closes the delimiter', async () => {
    const server = createHangingServer({ fragmentTimeoutMs: 0 })
    const response = await server.post(
      '{ fast ... @defer(label: "a") { hangs(name: "a") } ... @defer(label: "b") { two: hangs(name: "b") } }',
    )
    const body = response.text()
    await settle()
    await server.clock.advance(60_000)
    const text = await body
    const last = partsOf(text).at(-1)
    expect(last.hasNext).toBe(false)
    expect(
      last.incremental.map(({ label, data, errors }: any) => [label, data, errors[0].extensions.code]),
    ).toEqual([
      ['a', null, 'DEFER_FRAGMENT_TIMEOUT'],
      ['b', null, 'DEFER_FRAGMENT_TIMEOUT'],
    ])
    expect(text.endsWith('\r\n-----\r\n')).toBe(true)
    expect(server.cancelled).toEqual(['a', 'b'])
    expect(server.clock.pending()).toBe(0)
  })

  it.each(['streaming', 'eager'] as const)(
    '%s: nothing sent yet is 504, DEFER_TOTAL_TIMEOUT',
    async (strategy) => {
      const server = createHangingServer({ strategy })
      const answer = server.post('{ hangs(name: "first") ... @defer { fast } }')
      await settle()
      await server.clock.advance(60_000)
      const response = await answer
      expect(response.status).toBe(504)
      expect(await response.json()).toMatchObject({
        errors: [{ extensions: { code: 'DEFER_TOTAL_TIMEOUT' } }],
      })
      expect(server.clock.pending()).toBe(0)
    },
  )
})

describe('a query of which nothing is left to defer', () => {
  it('leaves no timer', async () => {
    const clock = createFakeClock()
    const response = await createTestServer({ internals: { clock } }).post('{ nobody { ... @defer { id } } }')
    expect(await response.json()).toEqual({ data: { nobody: null } })
    expect(clock.pending()).toBe(0)
  })
})

describe('a client that leaves after the first part', () => {
  it('over a real socket: a REST call and a gRPC call of the rest are cancelled', async () => {
    const disposables = createDisposables(onTestFinished)
    const rest = disposables.use(await startRestBackend(() => new Promise(() => undefined)))
    const grpc = disposables.use(
      await startGrpcBackend({
        protos:
          'syntax = "proto3"; package demo; message Empty {} service Slow { rpc Wait(Empty) returns (Empty); }',
        handlers: { 'demo.Slow/Wait': () => new Promise(() => undefined) },
      }),
    )
    const client: Client = disposables.use(
      new (makeGenericClientConstructor({}, 'Slow'))(grpc.address, credentials.createInsecure()),
    )
    const empty = () => Buffer.alloc(0)
    const schema = makeExecutableSchema({
      typeDefs: 'type Query { fast: String rest: String grpc: String }',
      resolvers: {
        Query: {
          fast: () => 'fast',
          rest: async (_: unknown, __: unknown, { request }: Context, { signal = request.signal }: Info) =>
            (await fetch(rest.url, { signal })).text(),
          grpc: (_: unknown, __: unknown, { request }: Context, { signal = request.signal }: Info) =>
            new Promise((resolve, reject) => {
              const call = client.makeUnaryRequest('/demo.Slow/Wait', empty, empty, {}, (error, answer) =>
                error ? reject(error) : resolve(String(answer)),
              )
              signal.addEventListener('abort', () => call.cancel())
            }),
        },
      },
    })
    const url = await listen(createTestServer({ schema }).yoga, disposables)
    const response = await requestMultipart(url, {
      body: { query: '{ fast ... @defer { rest } ... @defer { grpc } }' },
    })
    await response.nextPart()
    await waitUntil(() => rest.requests.length === 1 && grpc.calls.length === 1)
    const left = performance.now()
    response.abort()
    await waitUntil(
      () => rest.requests[0]?.cancelledAt !== undefined && grpc.calls[0]?.cancelledAt !== undefined,
    )
    const restMs = (rest.requests[0]?.cancelledAt ?? 0) - left
    const grpcMs = (grpc.calls[0]?.cancelledAt ?? 0) - left
    // 50 ms are asked for; the machine that runs this is shared.
    expect({ restMs, grpcMs, within: Math.max(restMs, grpcMs) < 250 }).toMatchObject({ within: true })
  })

  it('stops the timers and starts nothing more', async () => {
    const server = createHangingServer()
    const controller = new AbortController()
    const response = await server.post(
      '{ fast ... @defer { hangs(name: "a") ... @defer { b: hangs(name: "b") } } }',
      { signal: controller.signal },
    )
    const reader = response.body!.getReader()
    await reader.read()
    const second = reader.read()
    await settle()
    // One for each fragment that started, one for the whole response, and one for the heartbeat.
    expect(server.clock.pending()).toBe(4)
    controller.abort()
    await settle()
    expect(server.cancelled).toEqual(['a', 'b'])
    expect(server.clock.pending()).toBe(0)
    await second
  })

  it('before anything deferred has started, starts nothing', async () => {
    const server = createHangingServer()
    const controller = new AbortController()
    const answer = server.post('{ hangs(name: "first") ... @defer { two: hangs(name: "second") } }', {
      signal: controller.signal,
    })
    await settle()
    controller.abort()
    await Promise.allSettled([answer])
    await server.clock.advance(10)
    await settle()
    expect(server.cancelled).toEqual(['first'])
    expect(server.clock.pending()).toBe(0)
  })

  it('during the first fields, stops the deferred ones', async () => {
    const server = createHangingServer()
    const controller = new AbortController()
    const answer = server.post('{ hangs(name: "first") ... @defer { two: hangs(name: "second") } }', {
      signal: controller.signal,
    })
    await settle()
    await server.clock.advance(10)
    await settle()
    controller.abort()
    await Promise.allSettled([answer])
    await settle()
    expect(server.cancelled.sort()).toEqual(['first', 'second'])
    expect(server.clock.pending()).toBe(0)
  })
})

describe('a value that JSON cannot hold', () => {
  const Big = new GraphQLScalarType({ name: 'Big', serialize: () => 12n })
  const schema = makeExecutableSchema({
    typeDefs: 'scalar Big type Query { fast: String big: Big }',
    resolvers: { Big, Query: { fast: () => 'fast', big: () => 1 } },
  })
  const server = createTestServer({ schema })
  const patches = '{ fast ... @defer(label: "bad") { big } ... @defer(label: "good") { again: fast } }'

  it('fails its patch alone, and the stream is closed', async () => {
    const text = await server.text(patches)
    const [, { incremental, hasNext }] = partsOf(text)
    expect(incremental).toEqual([
      {
        data: null,
        path: [],
        label: 'bad',
        errors: [expect.objectContaining({ message: 'Unexpected error.' })],
      },
      { data: { again: 'fast' }, path: [], label: 'good' },
    ])
    expect(hasNext).toBe(false)
    expect(text.endsWith('\r\n-----\r\n')).toBe(true)
  })

  it('in the pending format too', async () => {
    const [first, later] = await server.parts(patches, { accept: 'multipart/mixed;incrementalSpec=v0.2' })
    expect(first.pending.map(({ id, label }: any) => [id, label])).toEqual([
      ['0', 'bad'],
      ['1', 'good'],
    ])
    expect(later).toEqual({
      incremental: [{ id: '1', data: { again: 'fast' } }],
      completed: [
        { id: '0', errors: [expect.objectContaining({ message: 'Unexpected error.' })] },
        { id: '1' },
      ],
      hasNext: false,
    })
  })

  it('in the first part is the end', async () => {
    expect(await server.parts('{ big ... @defer { fast } }')).toEqual([
      { data: null, errors: [expect.objectContaining({ message: 'Unexpected error.' })], hasNext: false },
    ])
  })
})

describe('what the resolvers of a deferred field are given', () => {
  const seen: { readonly context: any; readonly info: any }[] = []
  const see = (_: unknown, __: unknown, context: unknown, info: unknown) => {
    seen.push({ context, info })
    return 'seen'
  }
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { a: String b: String c: String }',
    resolvers: { Query: { a: see, b: see, c: see } },
  })

  it('is the one context of the operation: what plugins keep by it is kept for every fragment', async () => {
    seen.length = 0
    const made = new WeakMap<object, object>()
    const server = createTestServer({
      schema,
      after: [{ onExecute: ({ args }) => void made.set(args.contextValue, {}) }],
    })
    await server.parts('{ a ... @defer { b ... @defer { c } } }')
    expect(seen).toHaveLength(3)
    expect(new Set(seen.map(({ context }) => context)).size).toBe(1)
    expect(made.has(seen[0]?.context)).toBe(true)
    expect(seen[0]?.context.request.signal).toBeInstanceOf(AbortSignal)
  })

  it("is an info with the fragment's signal, of its own and in copies, and with what graphql 17 adds", async () => {
    seen.length = 0
    await createTestServer({ schema }).parts('{ a ... @defer { b } ... @defer(label: "c") { c } }')
    const signals = seen.map(({ info }) => info.signal)
    expect(new Set(signals).size).toBe(3)
    for (const { info } of seen) {
      const { getAbortSignal, getAsyncHelpers } = info
      expect({ ...info }.signal).toBe(info.signal)
      expect(getAbortSignal()).toBe(info.signal)
      const { promiseAll, track } = getAsyncHelpers()
      expect(await promiseAll([1, Promise.resolve(2)])).toEqual([1, 2])
      track([Promise.reject(new Error('nobody waits for it'))])
    }
  })

  it("is the operation's signal for a field that several fragments wait for", async () => {
    seen.length = 0
    await createTestServer({ schema }).parts('{ a ... @defer { b } ... @defer(label: "c") { b c } }')
    const [first, shared, own] = seen.map(({ info }) => info.signal)
    expect(shared).toBe(first)
    expect(own).not.toBe(first)
  })
})
