import { context, ROOT_CONTEXT, trace, type Tracer } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-base'
import { connectRawWebSocket, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { OWN_SCHEMA, post, startGateway } from './support/gateway.ts'
import { registerTracerProvider } from './support/tracer-provider.ts'

const PROTO = /* proto */ `
  syntax = "proto3";
  package shop.v1;
  message GetUserRequest { string id = 1; }
  message User { string name = 1; }
  service Users {
    rpc GetUser(GetUserRequest) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; }
  }
`
const BOTH = 'query Both { getUser(id: "7") { name } product(id: "1") { name } }'
const DEFERRED = '{ hello ... @defer { product(id: "1") { name } } }'
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const always = new AlwaysOnSampler()
const never = new AlwaysOffSampler()
const slowDoor: Partial<GatewayConfig> = { plugins: [{ onParams() {} }] }

interface Stage {
  readonly endpoint: string
  /** Names of all spans that were started, recorded or not. */
  readonly started: string[]
  readonly finished: () => readonly ReadableSpan[]
  /** Headers of the trace of each call, sorted. */
  readonly sent: () => readonly string[]
}

async function stage(root: Sampler, config: Partial<GatewayConfig> = {}): Promise<Stage> {
  const users = await startGrpcBackend({
    protos: PROTO,
    handlers: { 'shop.v1.Users/GetUser': async () => ({ name: 'Ada' }) },
  })
  const shop = await startRestBackend(() => ({ json: { id: '1', name: 'Lamp' } }))
  onTestFinished(async () => {
    await users.stop()
    await shop.stop()
  })
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const started: string[] = []
  const getTracer = (name: string): Tracer => {
    const tracer = provider.getTracer(name)
    return {
      startActiveSpan: tracer.startActiveSpan.bind(tracer),
      startSpan(spanName, ...rest) {
        started.push(spanName)
        return tracer.startSpan(spanName, ...rest)
      },
    }
  }
  registerTracerProvider({ getTracer })
  const { endpoint } = await startGateway({
    ...OWN_SCHEMA,
    grpc: { users: { endpoint: users.address, protoText: { 'users.proto': PROTO }, expose: 'all' } },
    rest: {
      shop: {
        baseUrl: shop.url,
        endpoints: [
          {
            name: 'product',
            path: '/products/{id}',
            args: { id: 'ID!' },
            responseSchema: { typeName: 'Product', fields: { id: 'id!', name: 'string' } },
          },
        ],
      },
    },
    graphql: { batching: 2 },
    tracing: true,
    ...config,
  })
  return {
    endpoint,
    started,
    finished: () => exporter.getFinishedSpans(),
    sent: () =>
      [
        ...users.calls.map(({ metadata }) => [metadata['traceparent'], metadata['tracestate']].join(' ')),
        ...shop.requests.map(({ headers }) => [headers['traceparent'], headers['tracestate']].join(' ')),
      ].sort(),
  }
}

const ask = async (endpoint: string, body: unknown, headers: Record<string, string> = {}): Promise<void> => {
  await (await post(endpoint, body, headers)).text()
}

describe.each([
  ['the prepared path', {}],
  ['all hooks', slowDoor],
])('a request that the sampler drops, on %s', (_way, config) => {
  it('has one span, whose context goes with its calls', async () => {
    const { endpoint, started, finished, sent } = await stage(never, config)
    for (const _time of [1, 2, 3]) await ask(endpoint, { query: BOTH })
    expect(started).toEqual(Array(3).fill('POST /graphql'))
    expect(finished()).toEqual([])
    expect(sent()).toHaveLength(6)
    for (const header of sent()) expect(header).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00 $/)
    // Both calls of a request carry the same.
    expect(new Set(sent()).size).toBe(3)
  })

  it('has one also with errors, in parts, as a batch, and as a mutation', async () => {
    const { endpoint, started, sent } = await stage(never, config)
    for (const _time of [1, 2]) {
      await ask(endpoint, { query: '{ fail hello }' })
      await ask(endpoint, { query: 'mutation { change }' })
      await ask(endpoint, [{ query: BOTH }, { query: '{ hello }' }])
      await ask(endpoint, { query: DEFERRED }, { accept: 'multipart/mixed' })
    }
    expect(started).toEqual(Array(8).fill('POST /graphql'))
    expect(sent()).toHaveLength(6)
    expect(new Set(sent()).size).toBe(4)
  })

  it('is one that a caller does not sample, too', async () => {
    const { endpoint, started, finished, sent } = await stage(always, config)
    const headers = { traceparent: `00-${TRACE}-${PARENT}-00`, tracestate: 'a=b' }
    for (const _time of [1, 2]) await ask(endpoint, { query: BOTH }, headers)
    expect(started).toEqual(Array(2).fill('POST /graphql'))
    expect(finished()).toEqual([])
    expect(sent()).toHaveLength(4)
    for (const header of sent()) {
      expect(header).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-00 a=b$`))
      expect(header).not.toContain(PARENT)
    }
  })

  it('is none that a caller samples', async () => {
    const { endpoint, finished, sent } = await stage(never, config)
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'a=b' }
    for (const _time of [1, 2]) await ask(endpoint, { query: BOTH }, headers)
    const names = ['POST /graphql', 'query Both', 'shop.product', 'shop.v1.Users/GetUser']
    expect(namesOf(finished())).toEqual([...names, ...names].sort())
    const calls = finished().filter(({ name }) => name.startsWith('shop.'))
    expect(sent()).toEqual(calls.map((span) => `00-${TRACE}-${span.spanContext().spanId}-01 a=b`).sort())
  })
})

it('an active context that came from elsewhere is the parent of the request, and not one that was dropped', async () => {
  const elsewhere = { traceId: TRACE, spanId: PARENT, traceFlags: 1, isRemote: true }
  const active = trace.setSpanContext(ROOT_CONTEXT, elsewhere)
  const manager = {
    active: () => active,
    with: (_context: unknown, run: (...args: never[]) => unknown, self: unknown, ...args: never[]) =>
      run.apply(self, args),
    bind: (_context: unknown, target: unknown) => target,
    enable: () => manager,
    disable: () => manager,
  }
  context.setGlobalContextManager(manager as never)
  onTestFinished(() => context.disable())
  const { endpoint, finished } = await stage(always)
  await ask(endpoint, { query: BOTH })
  expect(namesOf(finished())).toEqual([
    'POST /graphql',
    'query Both',
    'shop.product',
    'shop.v1.Users/GetUser',
  ])
  expect(finished().find(({ name }) => name === 'POST /graphql')?.parentSpanContext?.spanId).toBe(PARENT)
})

it('a recorded request has the same spans on the prepared path as through all hooks', async () => {
  const spansOf = async (config: Partial<GatewayConfig>): Promise<unknown[]> => {
    const { endpoint, started, finished } = await stage(always, config)
    for (const _time of [1, 2, 3])
      for (const query of [
        '{ hello }',
        'query Fails { fail hello }',
        BOTH,
        '{ nope }',
        'mutation { change }',
      ])
        await ask(endpoint, { query })
    // Each that was started has ended.
    expect(namesOf(finished())).toEqual([...started].sort())
    const parents = new Map(finished().map((span) => [span.spanContext().spanId, span.name]))
    return finished()
      .map(({ name, attributes, status: { code }, kind, parentSpanContext }) =>
        JSON.stringify({
          name,
          attributes,
          code,
          kind,
          parent: parentSpanContext && parents.get(parentSpanContext.spanId),
        }),
      )
      .sort()
  }
  const whole = await spansOf(slowDoor)
  expect(whole).toHaveLength(3 * (2 + 2 + 4 + 1 + 2))
  expect(await spansOf({})).toEqual(whole)
})

it('an operation on a WebSocket and its calls ask the sampler themselves', async () => {
  const { endpoint, started, sent } = await stage(never)
  const socket = await connectRawWebSocket(`${endpoint}/live`)
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  socket.sendJson({ id: '1', type: 'subscribe', payload: { query: BOTH } })
  await socket.nextJson()
  await socket.close()
  expect([...started].sort()).toEqual(['query Both', 'shop.product', 'shop.v1.Users/GetUser'])
  for (const header of sent()) expect(header).toMatch(/-00 $/)
})

const namesOf = (spans: readonly ReadableSpan[]): string[] => spans.map(({ name }) => name).sort()
