import { Metadata } from '@grpc/grpc-js'
import { grpcError, type GrpcHandler } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import type { GrpcSourceOptions } from '../src/index.ts'
import type { ObservedReply } from '../src/runtime/call.ts'
import { backend, describeTransports, disposables, source, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3"; package r; import "graphql.proto";
service S {
  rpc GetPost(Id) returns (Post) { option (graphql.schema) = { name: "post" }; }
  rpc BatchGetUsers(Ids) returns (Users);
  rpc UpdatePost(Id) returns (Post) { option (graphql.schema) = { type: MUTATION name: "update" }; }
  rpc UploadPosts(stream Id) returns (Post) { option (graphql.schema) = { type: MUTATION name: "upload" }; }
  rpc WatchPosts(Id) returns (stream Post) { option (graphql.schema) = { type: SUBSCRIPTION name: "posts" }; }
}
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message Post { string id = 1; string author_id = 2; }
message Users { repeated User users = 1; }
message User { string id = 1; }`

const OPTIONS: Partial<GrpcSourceOptions> = {
  protoText: { 'r.proto': PROTO },
  responseHeaders: ['X-Cost', 'x-zone', 'x-key-bin'],
  joins: [
    {
      type: 'Post',
      field: 'author',
      batch: { method: 'r.S.BatchGetUsers', keys: 'ids', items: 'users', parentKey: 'authorId' },
    },
  ],
}

/** Puts the id that is asked for, and what else it is told to, beside each reply. */
function beside(answer: (request: any) => unknown): GrpcHandler {
  return (request, { sendMetadata, trailers }) => {
    const headers = new Metadata()
    headers.set('x-zone', `zone of ${request.id ?? request.ids}`)
    headers.set('x-secret', 'not to be passed on')
    headers.set('x-key-bin', Buffer.from([0xab, 0xab, 0xab]))
    sendMetadata(headers)
    trailers.set('x-cost', String(request.id ?? request.ids))
    return answer(request)
  }
}
const HANDLERS: Record<string, GrpcHandler> = {
  'r.S/GetPost': beside(({ id }) => {
    if (id === 'none') throw grpcError(5, 'none there')
    return { id, authorId: `u${id}` }
  }),
  'r.S/BatchGetUsers': beside(({ ids }) => ({ users: ids.map((id: string) => ({ id })) })),
  'r.S/UpdatePost': beside(({ id }) => ({ id })),
  'r.S/UploadPosts': async (requests, { trailers }) => {
    let id = ''
    for await (const request of requests) id += request.id
    trailers.set('x-cost', id)
    return { id }
  },
  'r.S/WatchPosts': async function* (_, { trailers }: any) {
    trailers.set('x-cost', 'late')
    yield { id: '1' }
  } as GrpcHandler,
}

describeTransports('reply metadata as response headers', (open) => {
  async function start(options: Partial<GrpcSourceOptions> = {}) {
    const { address } = await backend({ 'r.proto': PROTO }, HANDLERS)
    const yoga = yogaWith(await open({ endpoint: address, ...OPTIONS, ...options }))
    return async (query: string): Promise<{ body: any; headers: Record<string, string | null> }> => {
      const response = await yoga.fetch('http://test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ query }),
      })
      const names = ['x-cost', 'x-zone', 'x-key-bin', 'x-secret', 'cache-control'] as const
      const headers = Object.fromEntries(names.map((name) => [name, response.headers.get(name)]))
      const text = await response.text()
      return { body: text.startsWith('{') ? JSON.parse(text) : text, headers }
    }
  }
  const NONE = { 'x-cost': null, 'x-zone': null, 'x-key-bin': null, 'x-secret': null, 'cache-control': null }
  const some = (cost: string, zone: string | null = `zone of ${cost}`) => ({
    'x-cost': cost,
    'x-zone': zone,
    'x-key-bin': zone === null ? null : 'q6ur',
    'x-secret': null,
    'cache-control': 'private, no-store',
  })

  it.each([true, false])('of queries, joins and errors, with plans: %s', async (plans) => {
    const ask = await start({ plans })
    expect((await ask('{ post(id: "1") { id } }')).headers).toEqual(some('1'))
    expect((await ask('{ post(id: "none") { id } }')).headers).toEqual(some('none'))
    const joined = await ask('{ post(id: "2") { id author { id } } }')
    expect(joined.body).toEqual({ data: { post: { id: '2', author: { id: 'u2' } } } })
    expect(joined.headers).toEqual({ ...some('2, u2', 'zone of 2, zone of u2') })
    expect((await ask('{ __typename }')).headers).toEqual(NONE)
    const twice = await ask('{ a: post(id: "3") { id } b: post(id: "3") { id } }')
    expect(twice.headers).toEqual(some('3'))
  })

  it('of mutations, those that take a list too; not of subscriptions', async () => {
    const ask = await start()
    expect((await ask('mutation { update(id: "4") { id } }')).headers).toEqual(some('4'))
    const uploaded = await ask('mutation { upload(requests: [{ id: "5" }, { id: "6" }]) { id } }')
    expect(uploaded).toEqual({ body: { data: { upload: { id: '56' } } }, headers: some('56', null) })
    const events = await ask('subscription { posts(id: "1") { id } }')
    expect(events.body).toContain('"id":"1"')
    expect(events.headers).toMatchObject({ 'x-cost': null, 'x-zone': null })
  })

  it('requests at once get those of their own calls; a call that they share is of who began it', async () => {
    const ask = await start()
    const ids = Array.from({ length: 40 }, (_, index) => String(index))
    const answers = await Promise.all(ids.map((id) => ask(`{ post(id: "${id}") { id } }`)))
    expect(answers.map(({ headers }) => headers['x-cost'])).toEqual(ids)
    const share = await start({ dedupe: 'inflight' })
    const shared = await Promise.all([1, 2, 3].map(() => share('{ post(id: "7") { id } }')))
    expect(shared.map(({ body }) => body.data.post.id)).toEqual(['7', '7', '7'])
    expect(shared.map(({ headers }) => headers['x-cost']).toSorted()).toEqual(['7', null, null])
  })

  it('onReply is told of every call, with all of its metadata', async () => {
    const replies: ObservedReply[] = []
    const ask = await start({ onReply: (reply) => void replies.push(reply), responseHeaders: undefined })
    await ask('{ post(id: "none") { id } }')
    await ask('subscription { posts(id: "1") { id } }')
    await ask('mutation { upload(requests: [{ id: "5" }]) { id } }')
    expect(
      replies.map(({ method, kind, status, headers, trailers }) => [
        method,
        kind,
        status,
        headers.filter(([name]) => name.startsWith('x-')).length,
        trailers,
      ]),
    ).toEqual([
      ['GetPost', 'unary', 'NOT_FOUND', 3, [['x-cost', 'none']]],
      ['WatchPosts', 'stream', 'OK', 0, [['x-cost', 'late']]],
      ['UploadPosts', 'stream', 'OK', 0, [['x-cost', '5']]],
    ])
    expect(replies[0]?.context).toMatchObject({ request: expect.anything() })
  })

  it('a listener that throws fails nothing', async () => {
    const ask = await start({
      onReply: () => {
        throw new Error('no')
      },
    })
    expect(await ask('{ post(id: "1") { id } }')).toEqual({
      body: { data: { post: { id: '1' } } },
      headers: some('1'),
    })
  })
})

describe('responseHeaders', () => {
  it.each(['content-length', 'Connection', 'grpc-status', ':status', 'transfer-encoding', 'a b', ''])(
    '"%s" stops the start',
    async (name) => {
      await expect(source({ ...OPTIONS, endpoint: 'localhost:1', responseHeaders: [name] })).rejects.toThrow(
        `responseHeaders: "${name}" cannot be forwarded`,
      )
    },
  )

  it('a call without a GraphQL context has nowhere to put them', async () => {
    const { address } = await backend({ 'r.proto': PROTO }, HANDLERS)
    const grpc = disposables().use(await source({ endpoint: address, ...OPTIONS }))
    expect(await grpc.call('r.S.GetPost', { id: '1' })).toMatchObject({ id: '1' })
  })
})
