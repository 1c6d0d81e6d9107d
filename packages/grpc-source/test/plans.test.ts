import { grpcError, type GrpcBackend, type GrpcHandler } from '@vinyasa/test-kit'

import { createSchema } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import type { GrpcSourceOptions } from '../src/index.ts'
import type { PlanEvent } from '@vinyasa/source-kit'
import { backend, run, source, yogaWith, type Yoga } from './harness.ts'

const PROTO = `
syntax = "proto3"; package p; import "graphql.proto"; import "google/protobuf/timestamp.proto";
service S {
  rpc GetUser(Id) returns (User) { option (graphql.schema).name = "user"; }
  rpc ListUsers(Ids) returns (Users) { option (graphql.schema).name = "users"; }
  rpc Bare(Id) returns (User) { option (graphql.schema) = { name: "userName" response: { pluck: "name" } }; }
  rpc Put(Id) returns (User) { option (graphql.schema) = { type: MUTATION name: "put" }; }
}
message Id { string id = 1; optional int64 at = 2; repeated Kind kinds = 3; }
message Ids { repeated string ids = 1; }
enum Kind { KIND_UNSPECIFIED = 0; KIND_A = 1; }
message User {
  string id = 1; string name = 2; int64 big = 3; double score = 4; optional bool live = 5; Kind kind = 6;
  User parent = 7; repeated string tags = 8; map<string, int32> counts = 9; google.protobuf.Timestamp at = 10;
  repeated User friends = 11; bytes raw = 12; oneof arm { string text = 13; int32 number = 14; }
}
message Users { repeated User items = 1; User first = 2; }`

const ADA = {
  id: '1',
  name: 'Ada "the\n\u0001 first" Ł🎉',
  big: '9007199254740993',
  score: 0.1,
  live: false,
  kind: 'KIND_A',
  parent: { id: '0', tags: ['root'] },
  tags: ['x', ''],
  counts: { a: 1, b: -2 },
  at: { seconds: '1700000000', nanos: 5_000_000 },
  friends: [{ id: '2', parent: { id: '3' } }, { id: '4' }],
  raw: Buffer.from([1, 2, 255]),
  number: 7,
}

const HANDLERS: Record<string, GrpcHandler> = {
  'p.S/GetUser': ({ id }) => {
    if (id === 'none') throw grpcError(5, `no user ${id}`)
    return { ...ADA, id }
  },
  'p.S/ListUsers': ({ ids }) => ({ items: (ids as string[]).map((id) => ({ ...ADA, id })) }),
  'p.S/Bare': () => ADA,
  'p.S/Put': () => ADA,
}

interface Planned {
  readonly yoga: Yoga
  readonly events: PlanEvent[]
  readonly backend: GrpcBackend
}

async function planned(
  options: Partial<GrpcSourceOptions> = {},
  yogaOptions: Parameters<typeof yogaWith>[1] = {},
  handlers: Record<string, GrpcHandler> = {},
): Promise<Planned> {
  const server = await backend({ 'p.proto': PROTO }, { ...HANDLERS, ...handlers })
  const events: PlanEvent[] = []
  const grpc = await source({
    protoText: { 'p.proto': PROTO },
    endpoint: server.address,
    onPlan: (event) => events.push(event),
    ...options,
  })
  return { yoga: yogaWith(grpc, yogaOptions), events, backend: server }
}

const EVERYTHING = `query All($id: String!, $with: Boolean = true, $ids: [String!]) {
  __typename
  a: user(id: $id, at: "5", kinds: [KIND_A]) { ...Fields again: name parent { id } }
  user(id: "9") { ... on User { id } ...Fields @include(if: $with) friends { ...Fields friends { id } } }
  users(ids: $ids) { items { id name @skip(if: $with) at counts { __typename key v: value } } first { id } }
  userName(id: "1")
}
fragment Fields on User {
  __typename name big score live kind parent { tags parent { id } } tags counts { key value } at raw text number
}`

describe('plans', () => {
  it('answer as ordinary execution does', async () => {
    const { yoga, events, backend: server } = await planned()
    const { yoga: ordinary } = await planned({ plans: false })
    for (const variables of [
      { id: '1', ids: ['5', '6'] },
      { id: '2', with: false },
      { id: '1', ids: [] },
    ]) {
      const [answer, expected] = await Promise.all([
        run(yoga, EVERYTHING, { variables }),
        run(ordinary, EVERYTHING, { variables }),
      ])
      expect(answer).toEqual(expected)
      expect(JSON.stringify(answer)).toBe(JSON.stringify(expected))
      expect(answer.data.a.name).toBe(ADA.name)
    }
    expect(events).toEqual([
      { operationName: 'All', outcome: 'planned', reason: undefined },
      { operationName: 'All', outcome: 'planned', reason: undefined },
    ])
    expect(server.calls).toHaveLength(12)
  })

  it('leave errors to ordinary execution, and make no call twice', async () => {
    for (const dedupe of ['operation', 'inflight', false] as const) {
      const { yoga, events, backend: server } = await planned({ dedupe })
      const answer = await run(yoga, '{ user(id: "none") { name } other: user(id: "1") { id } }')
      expect(answer).toMatchObject({
        data: { user: null, other: { id: '1' } },
        errors: [
          {
            message: 'The service did not find the requested entity',
            path: ['user'],
            extensions: { code: 'NOT_FOUND' },
          },
        ],
      })
      expect(events.map(({ outcome }) => outcome)).toEqual(['planned', 'fell-back'])
      expect(server.calls).toHaveLength(2)
    }
  })

  it('send identical calls of an operation once', async () => {
    const { yoga, backend: server } = await planned()
    const answer = await run(yoga, '{ a: user(id: "1") { id } b: user(id: "1") { tags } }')
    expect(answer).toEqual({ data: { a: { id: '1' }, b: { tags: ['x', ''] } } })
    expect(server.calls).toHaveLength(1)
  })

  it('refuse wrong arguments and variables in the words of ordinary execution, without a call', async () => {
    const { yoga, backend: server } = await planned()
    const { yoga: ordinary } = await planned({ plans: false })
    for (const [query, variables] of [
      ['{ user(id: "1", at: "x") { id } }', {}],
      ['query ($id: String!) { user(id: $id) { id } }', {}],
      ['query ($id: String!) { user(id: $id) { id } }', { id: 5 }],
      ['query ($on: Boolean!) { user(id: "1") { id @skip(if: $on) } }', { on: null }],
    ] as const) {
      const answer = await run(yoga, query, { variables })
      expect(answer.errors).toHaveLength(1)
      expect(answer).toEqual(await run(ordinary, query, { variables }))
    }
    expect(server.calls).toHaveLength(0)
  })

  it('are not made where they do not apply, and say why', async () => {
    const extra = createSchema({
      typeDefs: 'type Query { hello: String } type Extra { x: Int }',
      resolvers: { Query: { hello: () => 'world' } },
    })
    const { yoga, events } = await planned({}, { schema: extra })
    expect(await run(yoga, '{ hello user(id: "1") { id } }')).toEqual({
      data: { hello: 'world', user: { id: '1' } },
    })
    expect(await run(yoga, 'mutation M { put(id: "1") { id } }')).toEqual({ data: { put: { id: '1' } } })
    await run(yoga, 'query I { __schema { queryType { name } } }')
    await run(yoga, '{ hello user(id: "1") { id } }')
    expect(events).toEqual([
      {
        operationName: undefined,
        outcome: 'unplanned',
        reason: 'the resolver of Query.hello does not support plans',
      },
      { operationName: 'M', outcome: 'unplanned', reason: 'the operation is a mutation' },
      { operationName: 'I', outcome: 'unplanned', reason: 'Query has no field __schema' },
    ])
  })

  it('show observers how calls ended, as without plans', async () => {
    for (const plans of [true, false]) {
      const ended: string[] = []
      const grpc = await source({
        protoText: { 'p.proto': PROTO },
        endpoint: 'localhost:1',
        plans,
        observe: () => (end) => void ended.push(end.status),
        transport: () => ({
          // A string that is longer than the message.
          unary: () => Promise.resolve(Buffer.from([0x0a, 0x7f, 0x41])),
          stream: () => expect.unreachable('nothing streams'),
          close() {},
        }),
      })
      const answer = await run(yogaWith(grpc), '{ user(id: "1") { id } }')
      expect(answer.errors[0].extensions.code).toBe('INTERNAL_SERVER_ERROR')
      expect(ended).toEqual(['INTERNAL'])
    }
  })
})
