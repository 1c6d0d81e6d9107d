import { temporaryFolder } from '@vinyasa/test-kit'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { createGrpcSource, useGrpcSource } from '../src/index.ts'
import { backend, run, source, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3";
package j;
import "graphql.proto";
service Users {
  rpc GetUser(GetUserRequest) returns (User) { option (graphql.schema) = { type: RESOLVER name: "userById" }; }
  rpc GetProfile(GetProfileRequest) returns (Profile);
  rpc BatchGetUsers(BatchGetUsersRequest) returns (BatchGetUsersResponse);
  rpc ListPosts(ListPostsRequest) returns (ListPostsResponse) { option (graphql.schema) = { name: "posts" response { pluck: "posts" } }; }
}
message User { string id = 1; string name = 2; }
message GetUserRequest { string id = 1; }
message GetProfileRequest { string user_id = 1; string language = 2; }
message Profile { string bio = 1; }
message BatchGetUsersRequest { repeated string ids = 1; }
message BatchGetUsersResponse { repeated User users = 1; }
message ListPostsRequest { int32 count = 1; }
message ListPostsResponse { repeated Post posts = 1; }
message Post {
  string id = 1;
  string author_id = 2 [(graphql.field).omit = true];
  User author = 3 [(graphql.field).resolver = "userById"];
  string reviewer = 4 [(graphql.field) = { resolver: "userById" name: "reviewer" }];
}
`
const USER = (id: string): object => ({ id, name: `user ${id}` })
const HANDLERS = {
  'j.Users/GetUser': ({ id }: { id: string }) => USER(id),
  'j.Users/GetProfile': ({ userId, language }: { userId: string; language: string }) => ({
    bio: `bio of ${userId} in ${language}`,
  }),
  'j.Users/BatchGetUsers': ({ ids }: { ids: string[] }) => ({
    users: ids
      .filter((id) => id !== '3')
      .toReversed()
      .map(USER),
  }),
  'j.Users/ListPosts': ({ count }: { count: number }) => ({
    posts: Array.from({ length: count }, (_, index) => ({
      id: `p${index}`,
      authorId: String(index),
      reviewer: 'r',
    })),
  }),
}
const BATCH = { method: 'j.Users.BatchGetUsers', keys: 'ids', items: 'users', parentKey: 'authorId' }

describe('joins', () => {
  it('resolves fields through RESOLVER methods, from the parent by name or from their own value', async () => {
    const { address, callsOf } = await backend({ 'j.proto': PROTO }, HANDLERS)
    const yoga = yogaWith(await source({ protoText: { 'j.proto': PROTO }, endpoint: address }))
    const result = await run(yoga, '{ posts(count: 2) { id author { name } reviewer { name } } }')
    expect(result).toEqual({
      data: {
        posts: [
          { id: 'p0', author: { name: 'user 0' }, reviewer: { name: 'user r' } },
          { id: 'p1', author: { name: 'user 1' }, reviewer: { name: 'user r' } },
        ],
      },
    })
    // The reviewer of both is one call.
    expect(callsOf('j.Users/GetUser')).toHaveLength(3)
  })

  it('a RESOLVER method that a setting makes a query is both: a field of Query, and what resolves fields', async () => {
    const { address } = await backend({ 'j.proto': PROTO }, HANDLERS)
    for (const plans of [true, false]) {
      const grpc = await source({
        protoText: { 'j.proto': PROTO },
        endpoint: address,
        methods: { 'j.Users.GetUser': { schema: { type: 'QUERY' } } },
        plans,
      })
      const query = '{ userById(id: "5") { name } posts(count: 1) { author { name } reviewer { name } } }'
      expect(await run(yogaWith(grpc), query)).toEqual({
        data: {
          userById: { name: 'user 5' },
          posts: [{ author: { name: 'user 0' }, reviewer: { name: 'user r' } }],
        },
      })
    }
  })

  it('costs one batch RPC for 1,000 items, in any order of keys, with missing keys null', async () => {
    const { address, calls } = await backend({ 'j.proto': PROTO }, HANDLERS)
    const grpc = await source({
      protoText: { 'j.proto': PROTO },
      endpoint: address,
      joins: [{ type: 'Post', field: 'author', batch: BATCH }],
    })
    const { data } = await run(yogaWith(grpc), '{ posts(count: 1000) { id author { id } } }')
    expect(data.posts).toHaveLength(1000)
    expect(data.posts[3]).toEqual({ id: 'p3', author: null })
    expect(data.posts.filter(({ author }: any, index: number) => author?.id !== String(index))).toHaveLength(
      1,
    )
    expect(calls.map(({ method }) => method)).toEqual(['j.Users/ListPosts', 'j.Users/BatchGetUsers'])
  })

  it('is enough for a source that exposes no method', async () => {
    const proto = `syntax = "proto3"; package k;
      service Users { rpc Get(GetRequest) returns (User); }
      message GetRequest { string id = 1; }
      message User { string name = 1; }`
    const { address } = await backend(
      { 'k.proto': proto },
      { 'k.Users/Get': ({ id }) => ({ name: `user ${id}` }) },
    )
    const grpc = await source({
      protoText: { 'k.proto': proto },
      endpoint: address,
      joins: [{ type: 'Post', field: 'author', method: 'k.Users.Get', request: { id: 'authorId' } }],
    })
    const schema = createSchema({
      typeDefs: 'type Query { post: Post } type Post { authorId: ID }',
      resolvers: { Query: { post: () => ({ authorId: '7' }) } },
    })
    const yoga = createYoga({ schema, plugins: [useGrpcSource(grpc)] })
    expect(await run(yoga, '{ post { author { name } } }')).toEqual({
      data: { post: { author: { name: 'user 7' } } },
    })
  })

  it('gives fields to types of other sources, whatever the order of plugins', async () => {
    const { address, calls } = await backend({ 'j.proto': PROTO }, HANDLERS)
    const grpc = await source({
      protoText: { 'j.proto': PROTO },
      endpoint: address,
      joins: [
        { type: 'Review', field: 'author', batch: { ...BATCH, parentKey: 'userId' } },
        { type: 'User', field: 'profile', method: 'j.Users.GetProfile', request: { userId: 'id' } },
      ],
    })
    const reviews = createSchema({
      typeDefs: 'type Query { reviews: [Review!]! } type Review { userId: Int! }',
      resolvers: { Query: { reviews: () => [{ userId: 7 }, { userId: 3 }, { userId: 7 }] } },
    })
    const later = {
      onPluginInit({ setSchema }: any) {
        setSchema(reviews)
      },
    }
    for (const plugins of [
      [useGrpcSource(grpc), later],
      [later, useGrpcSource(grpc)],
    ]) {
      const yoga = createYoga({ logging: false, plugins: plugins as any })
      expect(await run(yoga, '{ reviews { author { name profile(language: "de") { bio } } } }')).toEqual({
        data: {
          reviews: [
            { author: { name: 'user 7', profile: { bio: 'bio of 7 in de' } } },
            { author: null },
            { author: { name: 'user 7', profile: { bio: 'bio of 7 in de' } } },
          ],
        },
      })
    }
    expect(
      calls.filter(({ method }) => method === 'j.Users/BatchGetUsers').map(({ request }) => request.ids),
    ).toEqual([
      ['7', '3'],
      ['7', '3'],
    ])
  })

  it('reads NOT_FOUND of a single call as null', async () => {
    const notFound = (): never => {
      throw Object.assign(new Error('none'), { code: 5 })
    }
    const { address } = await backend({ 'j.proto': PROTO }, { ...HANDLERS, 'j.Users/GetUser': notFound })
    const yoga = yogaWith(await source({ protoText: { 'j.proto': PROTO }, endpoint: address }))
    expect(await run(yoga, '{ posts(count: 1) { author { name } } }')).toEqual({
      data: { posts: [{ author: null }] },
    })
  })

  it.each([
    [
      'in a batch, on a type of its own',
      { type: 'Post', field: 'writer', batch: { ...BATCH, parentKey: 'author_id' } },
      'Post.writer of grpc source "test": join through j.Users.BatchGetUsers (j.proto) needs Post.author_id, which is not defined; the fields of Post are author, authorId, id, reviewer; use one of them (did you mean "authorId"?)',
    ],
    [
      'in a batch, on a type of another source',
      { type: 'Review', field: 'author', batch: BATCH },
      'needs Review.authorId, which is not defined; the fields of Review are userId; use one of them',
    ],
    [
      'as the only one of a request',
      {
        type: 'Review',
        field: 'author',
        request: { ids: 'user' },
        batch: { ...BATCH, parentKey: undefined },
      },
      /needs Review\.user, which is not defined; .*\(did you mean "userId"\?\)/,
    ],
    [
      'in a call for each parent',
      { type: 'Post', field: 'profile', method: 'j.Users.GetProfile', request: { userId: 'nope' } },
      'needs Post.nope, which is not defined; the fields of Post are author, authorId, id, reviewer',
    ],
  ])('stops the server on a key that the parent has not: %s', async (_what, join, message) => {
    const grpc = await source({ protoText: { 'j.proto': PROTO }, endpoint: 'localhost:1', joins: [join] })
    const schema = createSchema({
      typeDefs: 'type Query { reviews: [Review!]! } type Review { userId: Int! }',
    })
    expect(() => createYoga({ schema, plugins: [useGrpcSource(grpc)] })).toThrow(message)
  })

  it('a reload that takes a key away fails, and the schema stays as it was', async () => {
    const { address } = await backend({ 'j.proto': PROTO }, HANDLERS)
    const file = join(await temporaryFolder('joins'), 'j.proto')
    await writeFile(file, PROTO)
    const joins = [{ type: 'Post', field: 'author', batch: BATCH }]
    const grpc = await source({ protoFiles: [file], endpoint: address, joins })
    const yoga = yogaWith(grpc)
    const query = '{ posts(count: 1) { author { id } } }'
    const answer = { data: { posts: [{ author: { id: '0' } }] } }
    expect(await run(yoga, query)).toEqual(answer)
    const { schema } = grpc
    await writeFile(file, PROTO.replace('author_id', 'writer_id'))
    await expect(grpc.reload()).rejects.toThrow('needs Post.authorId, which is not defined')
    expect(grpc.schema).toBe(schema)
    expect(await run(yoga, query)).toEqual(answer)
    await writeFile(file, PROTO.replace('string name', 'string title'))
    await grpc.reload()
    expect(await run(yoga, query)).toEqual(answer)
    expect(await run(yoga, '{ posts(count: 1) { author { title } } }')).toEqual({
      data: { posts: [{ author: { title: 'user 0' } }] },
    })
  })

  it('reads keys that clients do not see: fields that another source omits, and arms of a union', async () => {
    const posts = PROTO.replace(
      'string id = 1;\n  string author_id',
      'oneof by { string editor = 5; string robot = 6; }\n$&',
    )
    const people = `
syntax = "proto3";
package k;
service People { rpc BatchGet(Keys) returns (Found); }
message Keys { repeated string ids = 1; }
message Found { repeated Person people = 1; }
message Person { string id = 1; }
`
    const { address } = await backend(
      { 'j.proto': posts, 'k.proto': people },
      {
        ...HANDLERS,
        'j.Users/ListPosts': () => ({ posts: [{ id: 'p', authorId: '1', editor: '2' }] }),
        'k.People/BatchGet': ({ ids }: { ids: string[] }) => ({ people: ids.map((id) => ({ id })) }),
      },
    )
    const options = { endpoint: address, oneofs: 'union' } as const
    const batch = { method: 'k.People.BatchGet', keys: 'ids', items: 'people' }
    const joined = await source({
      ...options,
      protoText: { 'k.proto': people },
      expose: 'all',
      joins: [
        { type: 'Post', field: 'writer', batch: { ...batch, parentKey: 'authorId' } },
        { type: 'Post', field: 'corrector', batch: { ...batch, parentKey: 'editor' } },
      ],
    })
    const plugins = [
      useGrpcSource(await source({ ...options, protoText: { 'j.proto': posts } })),
      useGrpcSource(joined),
    ]
    const yoga = createYoga({ logging: false, plugins: plugins as any })
    expect(await run(yoga, '{ posts(count: 1) { writer { id } corrector { id } } }')).toEqual({
      data: { posts: [{ writer: { id: '1' }, corrector: { id: '2' } }] },
    })
  })

  it.each([
    [
      'an unknown method',
      { type: 'Post', field: 'x', method: 'j.Users.Nope' },
      'joins: Post.x: method "j.Users.Nope" is not in the protos',
    ],
    [
      'an unknown request field',
      { type: 'Post', field: 'x', method: 'j.Users.GetUser', request: { nope: 'id' } },
      'request: j.GetUserRequest has no field "nope"; its fields are id',
    ],
    [
      'keys that are no list',
      { type: 'Post', field: 'x', batch: { ...BATCH, keys: 'nope' } },
      'batch.keys is "nope", but',
    ],
    [
      'items that are no messages',
      { type: 'Post', field: 'x', batch: { ...BATCH, items: 'nope' } },
      'has no repeated message field "nope"',
    ],
    [
      'an unknown item key',
      { type: 'Post', field: 'x', batch: { ...BATCH, itemKey: 'nope' } },
      'batch.itemKey: j.User has no field "nope"; its fields are id, name',
    ],
    [
      'no parent key',
      { type: 'Post', field: 'x', batch: { ...BATCH, parentKey: undefined } },
      'batch.parentKey is missing',
    ],
    ['no method', { type: 'Post', field: 'x' }, 'has no method; set method or batch.method'],
  ])('stops the start on %s', async (_what, join, message) => {
    await expect(
      createGrpcSource({
        name: 't',
        protoText: { 'j.proto': PROTO },
        endpoint: 'localhost:1',
        joins: [join],
      }),
    ).rejects.toThrow(message)
  })
})
