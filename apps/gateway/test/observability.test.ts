import { Writable } from 'node:stream'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { status } from '@grpc/grpc-js'
import {
  connectRawWebSocket,
  grpcError,
  startGrpcBackend,
  startRestBackend,
  type GrpcBackend,
  type RestAnswer,
  type RestBackend,
} from '@vinyasa/test-kit'
import parsePrometheus from 'parse-prometheus-text-format'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { createLogger } from '../src/logging/logger.ts'
import { OWN_SCHEMA, post, startGateway, type RunningGateway } from './support/gateway.ts'
import { watchStatus } from './support/watch-status.ts'
import { registerTracerProvider } from './support/tracer-provider.ts'

const PROTO = /* proto */ `
  syntax = "proto3";
  package shop.v1;
  message GetUserRequest { string id = 1; }
  message User { string id = 1; string name = 2; }
  service Users {
    rpc GetUser(GetUserRequest) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; }
    rpc UpdateUser(GetUserRequest) returns (User);
  }
`

interface Stage extends RunningGateway {
  readonly users: GrpcBackend
  readonly shop: RestBackend
  /** Every line that was logged. */
  readonly log: readonly string[]
  readonly spans: InMemorySpanExporter
}

async function stage(config: Partial<GatewayConfig> = {}): Promise<Stage> {
  const users = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'shop.v1.Users/GetUser': async ({ id }) => ({ id, name: 'Ada' }),
      'shop.v1.Users/UpdateUser': async ({ id }) => ({ id, name: 'Ada' }),
    },
  })
  const shop = await startRestBackend(() => ({ json: { id: '1', name: 'Lamp' } }))
  onTestFinished(async () => {
    await users.stop()
    await shop.stop()
  })
  const log: string[] = []
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      log.push(...chunk.toString().trimEnd().split('\n'))
      done()
    },
  })
  const spans = new InMemorySpanExporter()
  registerTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
  const running = await startGateway(
    {
      grpc: {
        users: { endpoint: users.address, protoText: { 'users.proto': PROTO }, expose: 'all' },
      },
      rest: {
        shop: {
          baseUrl: shop.url,
          retry: { initialBackoffMs: 1 },
          forwardHeaders: ['authorization'],
          endpoints: [
            {
              name: 'product',
              path: '/products/{id}',
              args: { id: 'ID!' },
              responseSchema: { typeName: 'Product', fields: { id: 'id!', name: 'string' } },
              liveQuery: { enabled: true },
            },
            {
              name: 'order',
              method: 'POST',
              path: '/orders',
              bodyTemplate: '{"note": {note}}',
              args: { note: 'String!' },
            },
          ],
        },
      },
      metrics: true,
      tracing: true,
      ...config,
    },
    { logger: await createLogger({ level: 'debug', format: 'json', destination }) },
  )
  return { ...running, users, shop, log, spans }
}

const BOTH = 'query Both($id: ID!) { getUser(id: "7") { name } product(id: $id) { name } }'

it('a request begins before the hooks of other plugins, also if its document is cached', async () => {
  const waiting = { onRequestParse: () => new Promise<void>((resolve) => setTimeout(resolve, 60)) }
  const { endpoint, log } = await stage({ plugins: [waiting] })
  for (const _time of [1, 2, 3]) await post(endpoint, { query: '{ __typename }' })
  const took = log.flatMap((line) => /"path":"\/graphql".*"ms":([\d.]+)/.exec(line)?.[1] ?? [])
  expect(took).toHaveLength(3)
  for (const ms of took) expect(Number(ms)).toBeGreaterThan(50)
})

it('says at debug level which operations are planned, and why others are not', async () => {
  const { endpoint, log } = await stage()
  const ask = (query: string): Promise<Response> =>
    fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { id: '1' } }),
    })
  await ask('query Users { getUser(id: "7") { name } }')
  await ask('query Shop { product(id: "1") { name } }')
  await ask(BOTH)
  await ask('mutation Order { order(note: "a") }')
  const events = log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ outcome }) => outcome)
  expect(events).toContainEqual(expect.objectContaining({ operationName: 'Users', outcome: 'planned' }))
  expect(events).toContainEqual(expect.objectContaining({ operationName: 'Shop', outcome: 'planned' }))
  expect(events).toContainEqual(expect.objectContaining({ operationName: 'Both', outcome: 'planned' }))
  expect(events).toContainEqual(
    expect.objectContaining({
      operationName: 'Order',
      outcome: 'unplanned',
      reason: 'the operation is a mutation',
    }),
  )
})

describe('the request log', () => {
  it('has no trace id if no SDK is registered, unless the client sends one', async () => {
    const log: string[] = []
    const destination = { write: (line: string) => void log.push(line) }
    const { endpoint } = await startGateway(
      { ...OWN_SCHEMA, tracing: true },
      { logger: await createLogger({ format: 'json', destination }) },
    )
    const ask = async (headers = {}): Promise<unknown> => {
      log.length = 0
      await (await post(endpoint, { query: '{ hello }' }, headers)).text()
      return log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'request')
    }
    const line = await ask()
    expect(line).toMatchObject({ operation: expect.any(String) })
    expect(line).not.toHaveProperty('trace_id')
    expect(line).not.toHaveProperty('span_id')
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect(await ask({ traceparent })).toMatchObject({ trace_id: '0af7651916cd43dd8448eb211c80319c' })
  })

  it('is one line a request: id, operation, milliseconds, backend calls', async () => {
    const { endpoint, log } = await stage()
    const response = await post(
      endpoint,
      { query: BOTH, variables: { id: '1' } },
      { 'x-request-id': 'req-1' },
    )
    expect(await response.json()).toEqual({ data: { getUser: { name: 'Ada' }, product: { name: 'Lamp' } } })
    expect(response.headers.get('x-request-id')).toBe('req-1')
    const lines = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    expect(lines).toEqual([
      expect.objectContaining({
        id: 'req-1',
        method: 'POST',
        path: '/graphql',
        operation: 'Both',
        status: 200,
        ms: expect.any(Number),
        backendCalls: 2,
      }),
    ])
  })

  it('of a hit has the name of the operation, and of a bypass the reason, which the response has in development', async () => {
    for (const preset of ['development', 'production'] as const) {
      const { endpoint, log } = await stage({ responseCache: true, preset })
      const query = 'query Lamp { product(id: 1) { name } }'
      const requests = [
        { query },
        { query },
        { query: 'query Other { product(id: 2) { name } }', headers: { cookie: 'sid=1' } },
      ]
      const reasons: (string | null)[] = []
      for (const { headers, ...body } of requests) {
        const response = await post(endpoint, body, headers ?? {})
        await response.text()
        reasons.push(response.headers.get('x-cache-reason'))
      }
      const lines = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
      const cookie = 'the request has a cookie, which is not part of the cache key'
      expect(lines.map(({ operation, cache, cacheReason }) => [operation, cache, cacheReason])).toEqual([
        ['Lamp', 'MISS', undefined],
        ['Lamp', 'HIT', undefined],
        ['Other', 'BYPASS', cookie],
      ])
      expect(reasons).toEqual([null, null, preset === 'production' ? null : cookie])
    }
  })

  it('names the codes of errors, not their texts', async () => {
    const { endpoint, users, log } = await stage()
    users.handle('shop.v1.Users/GetUser', () => Promise.reject(grpcError(status.NOT_FOUND, 'no user 7')))
    await post(endpoint, { query: '{ getUser(id: "7") { name } }' })
    const line = log.find((text) => text.includes('"msg":"request"'))
    expect(JSON.parse(line ?? '')).toMatchObject({ errors: ['NOT_FOUND'], backendCalls: 1 })
    expect(line).not.toContain('no user 7')
  })

  it('has a line for the defer endpoint and for a batch', async () => {
    const { endpoint, log } = await stage({ graphql: { batching: 2 } })
    await (await post(`${endpoint}/defer`, { query: '{ product(id: 1) { ... @defer { name } } }' })).text()
    await (
      await post(endpoint, [{ query: '{ product(id: 2) { id } }' }, { query: '{ product(id: 3) { id } }' }])
    ).text()
    const lines = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    expect(lines.map(({ status: code, backendCalls }) => [code, backendCalls])).toEqual([
      [200, 1],
      [200, 2],
    ])
  })
})

interface Scrape {
  /** Type of each metric by name, as a Prometheus parser reads them. */
  readonly types: ReadonlyMap<string, string>
  /** The one sample with these labels, given in the order of the metric; of histograms its count. */
  value(name: string, labels?: string): number
}

async function scrape(url: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`, { headers })
  expect(response.headers.get('content-type')).toContain('text/plain')
  const text = await response.text()
  const types = new Map(parsePrometheus(text).map(({ name, type }) => [name, type]))
  return {
    types,
    value(name, labels) {
      const series = `${name}${types.get(name) === 'HISTOGRAM' ? '_count' : ''}${labels ? `{${labels}}` : ''}`
      const line = text.split('\n').find((sample) => sample.startsWith(`${series} `))
      return Number(line?.slice(series.length) ?? Number.NaN)
    },
  }
}

describe('/metrics', () => {
  it('is read by a Prometheus parser and counts what happened', async () => {
    const { endpoint, server, shop: backend } = await stage()
    backend.answerNext({ status: 503 })
    await post(endpoint, { query: BOTH, variables: { id: '1' } })
    await post(endpoint, { query: '{ nope }' }, { accept: 'application/graphql-response+json' })
    const socket = await connectRawWebSocket(`${endpoint}/live`)
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({
      id: '1',
      type: 'subscribe',
      payload: { query: 'query @live { product(id: 1) { name } }' },
    })
    await socket.nextJson()

    const { types, value } = await scrape(server.url)
    expect(Object.fromEntries(types)).toMatchObject({
      vinyasa_http_request_duration_seconds: 'HISTOGRAM',
      vinyasa_operations_total: 'COUNTER',
      vinyasa_live_groups: 'GAUGE',
    })
    const users = 'source="users",kind="grpc",call="shop.v1.Users/GetUser"'
    const shop = 'source="shop",kind="rest",call="product"'
    expect({
      answered: value('vinyasa_http_request_duration_seconds', 'path="/graphql",status="200"'),
      refused: value('vinyasa_http_request_duration_seconds', 'path="/graphql",status="400"'),
      errors: value('vinyasa_errors_total', 'code="GRAPHQL_VALIDATION_FAILED"'),
      queries: value('vinyasa_operations_total', 'type="query"'),
      live: value('vinyasa_operations_total', 'type="live"'),
      rpcs: value('vinyasa_backend_call_duration_seconds', `${users},status="OK"`),
      refusedBackend: value('vinyasa_backend_call_duration_seconds', `${shop},status="503"`),
      answeredBackend: value('vinyasa_backend_call_duration_seconds', `${shop},status="200"`),
      retries: value('vinyasa_backend_retries_total', 'source="shop",kind="rest"'),
      subscriptions: value('vinyasa_live_subscriptions'),
      groups: value('vinyasa_live_groups'),
      runs: value('vinyasa_live_executions_total'),
    }).toEqual({
      answered: 1,
      refused: 1,
      errors: 1,
      // The live query counts when it is asked for, and then with each of its runs.
      queries: 2,
      live: 1,
      rpcs: 1,
      refusedBackend: 1,
      answeredBackend: 2,
      retries: 1,
      subscriptions: 1,
      groups: 1,
      runs: 1,
    })
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    await socket.close()
  })

  it('tells what the response cache keeps', async () => {
    const { endpoint, server } = await stage({ responseCache: true })
    expect((await scrape(server.url)).value('vinyasa_cache_bytes')).toBe(0)
    await post(endpoint, { query: BOTH, variables: { id: '1' } })
    expect((await scrape(server.url)).value('vinyasa_cache_bytes')).toBeGreaterThan(100)
  })

  it('does not grow with what clients choose', async () => {
    const { endpoint, server } = await stage()
    const series = async (): Promise<number> =>
      (await (await fetch(`${server.url}/metrics`)).text())
        .split('\n')
        .filter((line) => !line.startsWith('#')).length
    const send = async (i: number): Promise<void> => {
      await (await post(endpoint, { query: `query Name${i} { product(id: ${i}) { a${i}: name } }` })).text()
      await (await fetch(`${server.url}/path${i}`)).text()
    }
    await send(0)
    await series()
    const before = await series()
    for (let i = 1; i < 20; i++) await send(i)
    expect(await series()).toBe(before)
  })

  it('counts each answer of a batch by what the cache did', async () => {
    const { endpoint, server } = await stage({ responseCache: true, graphql: { batching: 3 } })
    const one = { query: '{ product(id: 1) { name } }' }
    const two = { query: '{ product(id: 2) { name } }' }
    await (await post(endpoint, one)).text()
    expect((await post(endpoint, [one, two, one])).headers.get('x-cache')).toBe('HIT, MISS, HIT')
    const { value } = await scrape(server.url)
    const outcomes = ['hit', 'miss', 'hit, miss, hit'].map((outcome) =>
      value('vinyasa_cache_requests_total', `outcome="${outcome}"`),
    )
    expect(outcomes).toEqual([2, 2, Number.NaN])
  })

  it('asks for its token, and is off in production unless the config turns it on', async () => {
    const { server } = await stage({ metrics: { token: 'scraper' } })
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401)
    expect((await scrape(server.url, { authorization: 'Bearer scraper' })).types.size).toBeGreaterThan(3)
    const production = await stage({ preset: 'production', metrics: undefined })
    expect((await fetch(`${production.server.url}/metrics`)).status).toBe(404)
  })
})

describe('traces', () => {
  it('a request is a span tree down to each backend call, with W3C context in and out', async () => {
    const { endpoint, spans, users, shop } = await stage()
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    await (await post(endpoint, { query: BOTH, variables: { id: '1' } }, { traceparent })).text()
    const finished = spans.getFinishedSpans()
    const tree = Object.fromEntries(
      finished.map((span) => [
        span.name,
        finished.find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId)?.name ??
          span.parentSpanContext?.spanId,
      ]),
    )
    expect(tree).toEqual({
      'POST /graphql': 'b7ad6b7169203331',
      'query Both': 'POST /graphql',
      'shop.v1.Users/GetUser': 'query Both',
      'shop.product': 'query Both',
    })
    expect(new Set(finished.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
    const idOf = (call: string): string | undefined =>
      finished.find(({ name }) => name === call)?.spanContext().spanId
    expect(shop.requests[0]?.headers['traceparent']).toBe(`00-${traceId}-${idOf('shop.product')}-01`)
    expect(users.calls[0]?.metadata['traceparent']).toEqual([
      `00-${traceId}-${idOf('shop.v1.Users/GetUser')}-01`,
    ])
  })

  it('marks what failed with its code', async () => {
    const { endpoint, spans, users } = await stage()
    users.handle('shop.v1.Users/GetUser', () => Promise.reject(grpcError(status.PERMISSION_DENIED, 'no')))
    await (await post(endpoint, { query: '{ getUser(id: "7") { name } }' })).text()
    const call = spans.getFinishedSpans().find(({ name }) => name === 'shop.v1.Users/GetUser')
    expect([call?.status.code, call?.attributes['rpc.status_code']]).toEqual([2, 'PERMISSION_DENIED'])
    const operation = spans.getFinishedSpans().find(({ name }) => name === 'query')
    expect(operation?.attributes['vinyasa.error.codes']).toEqual(['FORBIDDEN'])
  })

  it('the asking for a live query and each of its runs are spans of their own', async () => {
    const { endpoint, spans, gateway } = await stage()
    const socket = await connectRawWebSocket(`${endpoint}/live`)
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({
      id: '1',
      type: 'subscribe',
      payload: { query: 'query Live @live { product(id: 1) { name } }' },
    })
    await socket.nextJson()
    await gateway.bus.publish([{ entityType: 'Product', operation: 'update' }])
    await socket.nextJson()
    await socket.close()
    expect(spans.getFinishedSpans().filter(({ name }) => name === 'query Live')).toHaveLength(3)
  })
})

describe.each(['development', 'production'] as const)('a canary secret, %s preset', (preset) => {
  const CANARY = 'c4n4ry-5ecret-9f2e'

  it('is in no log, metric, trace, status page or error of a client', async () => {
    const { endpoint, server, log, spans, users, shop } = await stage({
      preset,
      metrics: true,
      status: true,
    })
    const answers: string[] = []
    const headers = {
      authorization: `Bearer ${CANARY}`,
      cookie: `session=${CANARY}`,
      'x-api-key': CANARY,
      'x-request-id': 'fine',
      'x-other': CANARY,
    }
    const send = async (body: unknown): Promise<void> => {
      const response = await post(endpoint, body, headers)
      answers.push(await response.text(), JSON.stringify([...response.headers]))
    }
    const query = 'query ($id: ID!, $s: String) { product(id: $id) { name } getUser(id: $s) { id } }'
    for (const code of [status.INTERNAL, status.UNKNOWN, status.UNAVAILABLE, status.DATA_LOSS]) {
      users.handle('shop.v1.Users/GetUser', () => Promise.reject(grpcError(code, `upstream says ${CANARY}`)))
      await send({ query, variables: { id: CANARY, s: CANARY } })
    }
    const bad: readonly RestAnswer[] = [
      { status: 500, json: { error: CANARY } },
      { status: 400, body: CANARY },
      { status: 404, headers: { 'x-detail': CANARY } },
      { status: 200, headers: { 'content-type': 'application/json' }, body: `{"broken": "${CANARY}` },
      { status: 302, headers: { location: `http://127.0.0.1:1/${CANARY}` } },
    ]
    for (const answer of bad) {
      shop.handle(() => answer)
      await send({ query, variables: { id: CANARY } })
      await send({ query: 'mutation ($n: String!) { order(note: $n) }', variables: { n: CANARY } })
    }
    await send({ query: 'query ($id: Int!) { product(id: $id) { name } }', variables: { id: CANARY } })
    await send({ query: 'mutation ($n: Int!) { order(note: $n) }', variables: { n: CANARY } })
    answers.push(
      await (await fetch(endpoint, { method: 'POST', headers, body: `{"query": "${CANARY}` })).text(),
    )
    answers.push(await (await fetch(`${endpoint}?query={hello}&variables=${CANARY}`, { headers })).text())
    const socket = await connectRawWebSocket(`${endpoint}/live`, { headers })
    socket.sendJson({ type: 'connection_init', payload: { authorization: CANARY, token: CANARY } })
    await socket.nextJson()
    socket.sendJson({ id: '1', type: 'subscribe', payload: { query, variables: { id: CANARY } } })
    answers.push((await socket.next()).text)
    await socket.close()
    answers.push(await (await fetch(`${server.url}/metrics`)).text())
    const figures = await (await watchStatus(server.url)).next()
    expect(figures.errors.length).toBeGreaterThan(3)
    answers.push(JSON.stringify(figures))

    // The secret did reach the backends: it is not missing because it was never sent.
    expect(JSON.stringify(users.calls.map(({ metadata }) => metadata))).toContain(CANARY)
    expect(shop.requests.some(({ rawUrl }) => rawUrl.includes(CANARY))).toBe(true)
    expect(log.length).toBeGreaterThan(10)
    expect(spans.getFinishedSpans().length).toBeGreaterThan(20)
    const traces = spans
      .getFinishedSpans()
      .map(({ name, attributes, events, status: end }) => ({ name, attributes, events, end }))
    expect(log.filter((line) => line.includes(CANARY))).toEqual([])
    expect(JSON.stringify(traces)).not.toContain(CANARY)
    expect(answers.filter((text) => text.includes(CANARY))).toEqual([])
  })
})
