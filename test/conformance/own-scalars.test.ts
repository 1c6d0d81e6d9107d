import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createRestConnector, useRestConnector, type RestConnector } from '@vinyasa/rest-connector'
import type { PlanEvent } from '@vinyasa/source-kit'
import { startGrpcBackend, startRestBackend, type GrpcBackend, type RestBackend } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// Three sources define JSON, Long, DateTime and Upload, each in its own way. Clients and backends see the same values
// whichever sources stand beside each other, in any order.

const PROTO = `
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/struct.proto";
message Values {
  google.protobuf.Value json = 1;
  int64 long = 2;
  google.protobuf.Timestamp time = 3;
  bytes file = 4;
  repeated int64 longs = 5;
  Nested nested = 6;
}
message Nested { int64 long = 1; google.protobuf.Timestamp time = 2; }
service Echo { rpc Grpc(Values) returns (Values) { option idempotency_level = NO_SIDE_EFFECTS; } }`

type Name = 'grpc' | 'text' | 'number'
const NAMES: readonly Name[] = ['grpc', 'text', 'number']
const ORDERS = NAMES.flatMap((first) =>
  NAMES.flatMap((second) =>
    NAMES.filter((third) => new Set([first, second, third]).size === 3).map((third) => [
      first,
      second,
      third,
    ]),
  ),
)

let grpc: GrpcBackend
let rest: RestBackend
const stops: (() => unknown)[] = []

beforeAll(async () => {
  grpc = await startGrpcBackend({ protos: PROTO, handlers: { 'Echo/Grpc': (values) => values } })
  rest = await startRestBackend(({ body }) => ({
    headers: { 'content-type': 'application/json' },
    body: body.length > 0 ? body : '{}',
  }))
  stops.push(
    () => grpc.stop(),
    () => rest.stop(),
  )
})
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

interface Setting {
  readonly isPlanned: boolean
  readonly prefix: string | undefined
}

/** What became of the plans of all queries. */
const outcomes: PlanEvent['outcome'][] = []

function connector(name: 'text' | 'number', { isPlanned, prefix }: Setting): RestConnector {
  const type = name === 'text' ? 'Text' : 'Number'
  const fields = {
    json: { type: 'JSON' },
    long: { type: 'Long' },
    time: { type: 'DateTime' },
    longs: { type: '[Long]' },
  }
  return createRestConnector(name, {
    baseUrl: rest.url,
    int64: name === 'text' ? 'string' : 'number-when-safe',
    plans: isPlanned,
    onPlan: ({ outcome }: PlanEvent) => void outcomes.push(outcome),
    prefix,
    types: {
      // One takes any text, the other years only.
      DateTime: { kind: 'scalar', ...(name === 'number' && { pattern: '^\\d{4}' }) },
      [type]: { kind: 'object', fields: { ...fields, nested: { type } } },
      [`${type}In`]: { kind: 'input', fields: { long: { type: 'Long' }, time: { type: 'DateTime' } } },
    },
    endpoints: [
      {
        name,
        method: 'POST',
        path: '/echo',
        asQuery: true,
        args: {
          json: 'JSON',
          long: 'Long',
          time: 'DateTime',
          file: 'Upload',
          longs: '[Long]',
          nested: `${type}In`,
        },
        bodyTemplate: undefined,
        returnType: type,
      },
    ],
  } as never)
}

interface World {
  /** What the client and the backend see of one query. */
  see(query: string, variables?: object): Promise<string>
}

async function start(names: readonly Name[], setting: Setting): Promise<World> {
  const source = names.includes('grpc')
    ? await createGrpcSource({
        name: 'echo',
        protoText: { 'echo.proto': PROTO },
        expose: 'all',
        endpoint: grpc.address,
        int64: 'number-when-safe',
        plans: setting.isPlanned,
        onPlan: ({ outcome }) => void outcomes.push(outcome),
        prefix: setting.prefix,
      })
    : undefined
  const plugins = names.map(
    (name) =>
      (name === 'grpc'
        ? source && useGrpcSource(source)
        : useRestConnector(connector(name, setting))) as Plugin,
  )
  const server = createServer(createYoga({ logging: false, plugins }))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  stops.push(async () => {
    server.close().closeAllConnections()
    await source?.close()
  })
  return {
    async see(query, variables) {
      const before = { grpc: grpc.calls.length, rest: rest.requests.length }
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      const { data, errors } = (await response.json()) as { data?: unknown; errors?: readonly object[] }
      const calls = grpc.calls.slice(before.grpc).map(({ request }) => request)
      const requests = rest.requests.slice(before.rest).map(({ body }) => body.toString())
      // Alone, a wrong value is refused before execution; beside others by its field.
      return errors
        ? JSON.stringify({ refused: true, calls, requests })
        : JSON.stringify({ data, calls, requests }, (_, value) =>
            typeof value === 'bigint' ? `${value}n` : value,
          )
    },
  }
}

const SELECTION = '{ json long time longs nested { long time } }'
const LITERALS: readonly string[] = [
  ...[
    '1',
    '9007199254740991',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    '"12"',
    '"x"',
  ].flatMap((text) => [`long: ${text}`, `longs: [1, ${text}]`, `nested: { long: ${text} }`]),
  ...['"2026-01-31T12:00:00.123456789Z"', '"2026-01-31"', '"tomorrow"', '5'].flatMap((text) => [
    `time: ${text}`,
    `nested: { time: ${text} }`,
  ]),
  ...['1', '9007199254740993', '[1, { a: 9007199254740993, b: ["x", 1.5, true, null] }]', '"text"'].map(
    (text) => `json: ${text}`,
  ),
  ...['"aGk="', '"%"', '5'].map((text) => `file: ${text}`),
]
const VARIABLES: readonly (readonly [arg: string, type: string, value: unknown])[] = [
  ...[1, 2 ** 53, '9007199254740993', '9223372036854775808', true].map(
    (value) => ['long', 'Long', value] as const,
  ),
  ...['2026-01-31T12:00:00Z', '31 January', 5].map((value) => ['time', 'DateTime', value] as const),
  ...[1, 'x', [{ a: 1.5 }]].map((value) => ['json', 'JSON', value] as const),
  ['longs', '[Long]', [1, '9007199254740993', null]],
  ['longs', '[Long]', 5],
]

describe.each([
  { isPlanned: true, prefix: undefined },
  { isPlanned: false, prefix: undefined },
  { isPlanned: true, prefix: 'own' },
])('with %o', ({ isPlanned, prefix }) => {
  it('sees the same values and requests for all orders of sources as for each source alone', async () => {
    const alone: Record<string, string> = {}
    const fieldOf = (name: Name, args: string): string =>
      `${name}: ${prefix ? `own${name[0]?.toUpperCase()}${name.slice(1)}` : name}(${args}) ${SELECTION}`
    const cases = NAMES.flatMap((name) => [
      ...LITERALS.filter((one) => name !== 'grpc' || !one.startsWith('file')).map((args) => ({
        name,
        key: `${name} ${args}`,
        query: `{ ${fieldOf(name, args)} }`,
        variables: {},
      })),
      ...VARIABLES.map(([arg, type, value]) => ({
        name,
        key: `${name} $${arg} ${JSON.stringify(value)}`,
        query: `query ($v: ${type}) { ${fieldOf(name, `${arg}: $v`)} }`,
        variables: { v: value },
      })),
    ])
    for (const name of NAMES) {
      const world = await start([name], { isPlanned, prefix })
      for (const { key, query, variables, name: of } of cases)
        if (of === name) alone[key] = await world.see(query, variables)
    }
    outcomes.length = 0
    // The table is about something: requests, values and refusals.
    const kinds = Object.values(alone).map((seen) => seen.includes('"refused"'))
    expect(new Set(kinds)).toEqual(new Set([true, false]))
    expect(alone['text json: 9007199254740993']).toContain('9007199254740993')
    expect(alone['text long: 1']).toContain('"long":"1"')
    expect(alone['number long: 1']).toContain('"long":1,')
    for (const order of ORDERS.filter((_, at) => (isPlanned && prefix === undefined) || at % 2 === 0)) {
      const world = await start(order as Name[], { isPlanned, prefix })
      const together: Record<string, string> = {}
      for (const { key, query, variables } of cases) together[key] = await world.see(query, variables)
      expect({ order, seen: together }).toEqual({ order, seen: alone })
      const answered = cases.filter(({ key }) => !alone[key]?.includes('"refused"'))
      expect(outcomes.splice(0).filter((one) => one === 'planned').length >= answered.length).toBe(isPlanned)
    }
  })
})
