import { grpcError, type GrpcBackend, type GrpcHandler } from '@vinyasa/test-kit'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { useGrpcSource, type GrpcSourceOptions } from '../src/index.ts'
import type { JoinOptions } from '../src/contract/join-options.ts'
import type { BatchOptions } from '../src/contract/join-options.ts'
import type { PlanEvent } from '@vinyasa/source-kit'
import { backend, run, source, yogaWith, type Yoga } from './harness.ts'

const PROTO = `
syntax = "proto3"; package j; import "graphql.proto";
service S {
  rpc ListPosts(Count) returns (Posts) { option (graphql.schema) = { name: "posts" response { pluck: "posts" } }; }
  rpc BatchGetUsers(Ids) returns (Users);
  rpc BatchGetTeams(Ids) returns (Teams);
  rpc ListPostsOf(Ids) returns (Posts);
  rpc GetTeam(Id) returns (Team);
}
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message Count { int32 count = 1; }
message Posts { repeated Post posts = 1; }
message Post { string id = 1; string author_id = 2; int32 editor = 3; }
message Users { repeated User users = 1; }
message User { string id = 1; string name = 2 [(graphql.field).required = true]; optional string team_id = 3; }
message Teams { repeated Team teams = 1; }
message Team { string id = 1; string name = 2; map<string, Post> pinned = 3; }`

const batch = (method: string, items: string, parentKey: string): BatchOptions => ({
  method: `j.S.${method}`,
  keys: 'ids',
  items,
  parentKey,
})
const BY_AUTHOR = batch('BatchGetUsers', 'users', 'authorId')
const AUTHOR: JoinOptions = { type: 'Post', field: 'author', batch: BY_AUTHOR }
const JOINS: readonly JoinOptions[] = [
  AUTHOR,
  { type: 'Post', field: 'editedBy', batch: batch('BatchGetUsers', 'users', 'editor') },
  { type: 'User', field: 'team', batch: batch('BatchGetTeams', 'teams', 'teamId') },
  {
    type: 'User',
    field: 'posts',
    batch: { ...batch('ListPostsOf', 'posts', 'id'), itemKey: 'author_id', many: true },
  },
]

/** Posts are by users 1 to 4; there is no user 4, and user 3 has no team. */
const post = (index: number): object => ({
  id: `p${index}`,
  authorId: `${(index % 4) + 1}`,
  editor: index % 3,
})
const HANDLERS: Record<string, GrpcHandler> = {
  'j.S/ListPosts': ({ count }) => ({
    posts: Array.from({ length: count as number }, (_, index) => post(index)),
  }),
  'j.S/BatchGetUsers': ({ ids }) => ({
    users: (ids as string[])
      .filter((id) => id !== '4')
      .toReversed()
      .map((id) => ({ id, name: `user "${id}" Ł`, ...(id === '3' ? {} : { teamId: `t${id}` }) })),
  }),
  'j.S/BatchGetTeams': ({ ids }) => ({ teams: (ids as string[]).map((id) => ({ id, name: `team ${id}` })) }),
  'j.S/ListPostsOf': ({ ids }) => ({
    posts: [3, 5, 12, 4, 8]
      .map(post)
      .filter((one) => (ids as string[]).includes((one as { authorId: string }).authorId)),
  }),
}

interface Planned {
  readonly yoga: Yoga
  readonly events: PlanEvent[]
  readonly backend: GrpcBackend
}

async function planned(
  options: Partial<GrpcSourceOptions> = {},
  handlers: Record<string, GrpcHandler> = {},
  plugins: Plugin[] = [],
): Promise<Planned> {
  const server = await backend({ 'j.proto': PROTO }, { ...HANDLERS, ...handlers })
  const events: PlanEvent[] = []
  const grpc = await source({
    protoText: { 'j.proto': PROTO },
    endpoint: server.address,
    joins: JOINS,
    onPlan: (event) => events.push(event),
    ...options,
  })
  return { yoga: yogaWith(grpc, { plugins }), events, backend: server }
}

const outcomes = (events: readonly PlanEvent[]): string[] => events.map(({ outcome }) => outcome)

const EVERYTHING = `query All($on: Boolean = true) {
  posts(count: 9) {
    author { ...Name team { name id } posts { id author { name } } }
    id again: author { id @skip(if: $on) ...Name }
    ... on Post @include(if: $on) { editedBy { team { id } } }
  }
}
fragment Name on User { __typename name }`

describe('plans with joins', () => {
  it('answer as ordinary execution does, with one call for each join and level', async () => {
    const ordinary = await planned({ plans: false })
    for (const dedupe of ['operation', 'inflight', false] as const) {
      const { yoga, events, backend: server } = await planned({ dedupe })
      for (const variables of [{}, { on: false }]) {
        const before = { plan: server.calls.length, ordinary: ordinary.backend.calls.length }
        const answer = await run(yoga, EVERYTHING, { variables })
        expect(JSON.stringify(answer)).toBe(
          JSON.stringify(await run(ordinary.yoga, EVERYTHING, { variables })),
        )
        expect(answer.data.posts[0].author.posts).toHaveLength(3)
        expect(answer.data.posts[3].author).toBeNull()
        const callsOf = (calls: GrpcBackend['calls']): string[] =>
          calls.map(({ method, request }) => `${method} ${String(request.ids)}`).toSorted()
        expect(callsOf(server.calls.slice(before.plan))).toEqual(
          callsOf(ordinary.backend.calls.slice(before.ordinary)),
        )
        expect(callsOf(server.calls.slice(before.plan))).toContain('j.S/BatchGetUsers 1,2,3,4')
      }
      expect(outcomes(events)).toEqual(['planned', 'planned'])
    }
  })

  it('ask for no more keys at once than the join allows', async () => {
    const {
      yoga,
      events,
      backend: server,
    } = await planned({
      joins: [{ ...AUTHOR, batch: { ...BY_AUTHOR, maxBatchSize: 3 } }],
    })
    await run(yoga, '{ posts(count: 40) { author { id } } }')
    expect(server.callsOf('j.S/BatchGetUsers').map(({ request }) => request.ids)).toEqual([
      ['1', '2', '3'],
      ['4'],
    ])
    expect(outcomes(events)).toEqual(['planned'])
  })

  it('wait for new keys with known ones, so that the next level is one call', async () => {
    const query = '{ posts(count: 1) { editedBy { id } author { posts { editedBy { team { id } } } } } }'
    for (const plans of [true, false]) {
      const { yoga, events, backend: server } = await planned({ plans })
      const answer = await run(yoga, query)
      const teams = answer.data.posts[0].author.posts.map((one: any) => one.editedBy.team.id)
      expect(teams).toEqual(['t0', 't1', 't2'])
      // The first is of a user who was there before.
      const asked = server.callsOf('j.S/BatchGetTeams').map(({ request }) => request.ids)
      expect(asked).toEqual([['t1', 't2', 't0']])
      expect(outcomes(events)).toEqual(plans ? ['planned'] : [])
    }
  })

  it('join what root fields bring at different times', async () => {
    const {
      yoga,
      events,
      backend: server,
    } = await planned(
      {},
      {
        'j.S/ListPosts': async ({ count }) => {
          if (count === 8) await new Promise((resolve) => setTimeout(resolve, 30))
          return { posts: Array.from({ length: count as number }, (_, index) => post(index)) }
        },
      },
    )
    const answer = await run(
      yoga,
      '{ a: posts(count: 2) { author { id } } b: posts(count: 8) { author { id } } }',
    )
    expect(answer.data.b.map(({ author }: any) => author?.id)).toEqual([
      '1',
      '2',
      '3',
      undefined,
      '1',
      '2',
      '3',
      undefined,
    ])
    // The second asks for what the first did not.
    expect(server.callsOf('j.S/BatchGetUsers').map(({ request }) => request.ids)).toEqual([
      ['1', '2'],
      ['3', '4'],
    ])
    expect(outcomes(events)).toEqual(['planned'])
  })

  it('leave a failed call to ordinary execution, and make no call twice', async () => {
    const failing: Record<string, GrpcHandler> = {
      'j.S/BatchGetTeams': () => {
        throw grpcError(5, 'no teams')
      },
    }
    for (const dedupe of ['operation', 'inflight', false] as const) {
      const { yoga, events, backend: server } = await planned({ dedupe }, failing)
      const query = '{ posts(count: 2) { author { name team { id } } } }'
      const answer = await run(yoga, query)
      expect(answer).toEqual(await run((await planned({ plans: false }, failing)).yoga, query))
      expect(answer.errors[0]).toMatchObject({
        message: expect.stringContaining('service'),
        path: ['posts', 0, 'author', 'team'],
      })
      expect(outcomes(events)).toEqual(['planned', 'fell-back'])
      expect(server.calls.map(({ method }) => method)).toEqual([
        'j.S/ListPosts',
        'j.S/BatchGetUsers',
        'j.S/BatchGetTeams',
      ])
    }
  })

  it('leave an item that is missing where none may be to ordinary execution', async () => {
    for (const plans of [true, false]) {
      const { yoga, backend: server } = await planned({
        plans,
        dedupe: false,
        joins: [{ ...AUTHOR, required: true }],
      })
      const answer = await run(yoga, '{ posts(count: 4) { id author { id } } }')
      expect(answer.data).toBeNull()
      expect(answer.errors[0].path).toEqual(['posts', 3, 'author'])
      expect(server.calls).toHaveLength(2)
    }
  })

  it('join from the zero values of what is not on the wire', async () => {
    const replies: Record<string, Buffer> = {
      // A post without anything; a team with an entry that has only a key, and one with an empty post.
      '/j.S/ListPosts': Buffer.from([0x0a, 0]),
      '/j.S/BatchGetUsers': Buffer.from([0x0a, 9, 0x0a, 1, 0x30, 0x12, 1, 0x41, 0x1a, 1, 0x74]),
      '/j.S/BatchGetTeams': Buffer.from([
        0x0a, 15, 0x0a, 1, 0x74, 0x1a, 3, 0x0a, 1, 0x6b, 0x1a, 5, 0x0a, 1, 0x6c, 0x12, 0,
      ]),
    }
    const query =
      '{ posts(count: 1) { author { id } editedBy { name team { pinned { key value { id editedBy { name } } } } } } }'
    for (const plans of [true, false]) {
      const calls: string[] = []
      const { yoga } = await planned({
        plans,
        transport: () => ({
          unary({ path }) {
            calls.push(path)
            return Promise.resolve(replies[path] as Buffer)
          },
          stream: () => expect.unreachable('nothing streams'),
          close() {},
        }),
      })
      const value = { id: '', editedBy: { name: 'A' } }
      const pinned = ['k', 'l'].map((key) => ({ key, value }))
      expect(await run(yoga, query)).toEqual({
        data: { posts: [{ author: null, editedBy: { name: 'A', team: { pinned } } }] },
      })
      expect(calls).toEqual(Object.keys(replies))
    }
  })

  it('show observers how calls ended, as without plans', async () => {
    for (const plans of [true, false]) {
      const ended: string[] = []
      const { yoga } = await planned({
        plans,
        observe: () => (end) => void ended.push(end.status),
        transport: () => ({
          // A string in the users is longer than its message.
          unary: ({ path }) =>
            Promise.resolve(
              Buffer.from(path.endsWith('ListPosts') ? [0x0a, 3, 0x12, 1, 0x31] : [0x0a, 3, 0x0a, 9, 0x31]),
            ),
          stream: () => expect.unreachable('nothing streams'),
          close() {},
        }),
      })
      const answer = await run(yoga, '{ posts(count: 1) { author { id } } }')
      expect(answer.data).toEqual({ posts: [{ author: null }] })
      expect(answer.errors[0].extensions.code).toBe('INTERNAL_SERVER_ERROR')
      expect(ended).toEqual(['OK', 'INTERNAL'])
    }
  })

  it('show plugins the joined data, and take their changes', async () => {
    const seen: unknown[] = []
    const look: Plugin = {
      onExecute: () => ({
        onExecuteDone({ result }) {
          const { posts } = (result as any).data
          seen.push(posts[1].author.name)
          posts[1].author.name = 'Bo'
        },
      }),
    }
    const { yoga, events } = await planned({}, {}, [look])
    const answer = await run(yoga, '{ posts(count: 6) { author { name } } }')
    expect(seen).toEqual(['user "2" Ł'])
    expect(answer.data.posts.map(({ author }: any) => author?.name)).toEqual([
      'user "1" Ł',
      'Bo',
      'user "3" Ł',
      undefined,
      'user "1" Ł',
      'user "2" Ł',
    ])
    expect(outcomes(events)).toEqual(['planned'])
  })

  it('reach from one source into another, also when it fails', async () => {
    const join: JoinOptions = { ...AUTHOR, batch: { ...BY_AUTHOR, method: 'u.U.Batch' } }
    const users = `syntax = "proto3"; package u;
      service U { rpc Batch(Ids) returns (Users); }
      message Ids { repeated string ids = 1; } message Users { repeated Writer users = 1; }
      message Writer { string id = 1; int64 age = 2; }`
    for (const isDown of [false, true]) {
      const server = await backend(
        { 'u.proto': users },
        {
          'u.U/Batch': ({ ids }) => {
            if (isDown) throw grpcError(14, 'down')
            return { users: (ids as string[]).map((id) => ({ id, age: id })) }
          },
        },
      )
      const other = await source({
        name: 'users',
        protoText: { 'u.proto': users },
        endpoint: server.address,
        expose: 'all',
        retry: { maxRetries: 0 },
        dedupe: false,
        int64: 'number-when-safe',
        joins: [join],
      })
      const { yoga, events } = await planned({ joins: [], dedupe: false }, {}, [
        useGrpcSource(other) as Plugin,
      ])
      const answer = await run(yoga, '{ posts(count: 2) { id author { age } } }')
      expect(answer.data).toEqual({
        posts: [1, 2].map((age, index) => ({ id: `p${index}`, author: isDown ? null : { age } })),
      })
      expect(outcomes(events)).toEqual(isDown ? ['planned', 'fell-back'] : ['planned'])
      expect(server.calls).toHaveLength(1)
    }
  })

  it('are not made where a join takes one call for each parent', async () => {
    const team: JoinOptions = {
      type: 'User',
      field: 'team',
      method: 'j.S.GetTeam',
      request: { id: 'teamId' },
    }
    const { yoga, events } = await planned(
      { joins: [AUTHOR, team] },
      { 'j.S/GetTeam': ({ id }) => ({ id, name: 'one' }) },
    )
    const answer = await run(yoga, '{ posts(count: 1) { author { team { name } } } }')
    expect(answer).toEqual({ data: { posts: [{ author: { team: { name: 'one' } } }] } })
    expect(events).toEqual([
      { operationName: undefined, outcome: 'unplanned', reason: 'User.team has a resolver or arguments' },
    ])
  })
})
