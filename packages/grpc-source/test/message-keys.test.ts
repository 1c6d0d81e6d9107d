import { describe, expect, it } from 'vitest'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createGrpcSource } from '../src/index.ts'
import type { JoinOptions } from '../src/contract/join-options.ts'
import { backend, run, source, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3"; package n; import "graphql.proto"; import "google/protobuf/wrappers.proto";
service S {
  rpc ListPosts(Empty) returns (Posts) { option (graphql.schema) = { name: "posts" response { pluck: "posts" } }; }
  rpc GetMultipleNews(Ids) returns (NewsList);
  rpc GetWrapped(Wrapped) returns (NewsList);
  rpc GetChosen(Chosen) returns (NewsList);
}
message Empty {}
message NewsId { int32 id = 1; repeated string tags = 2; }
message Ids { repeated NewsId ids = 1; NewsId one = 2; repeated Deep deep = 3; }
message Deep { NewsId news = 1; }
message Wrapped { Ids request = 1; repeated google.protobuf.Int32Value wrappers = 2; }
message Chosen { repeated Choice choices = 1; }
message Choice { oneof by { int32 news_id = 1; string slug = 2; } }
message NewsList { repeated News news = 1; }
message News { int32 id = 1; string title = 2; }
message Posts { repeated Post posts = 1; }
message Post { int32 news_id = 1; }`

type Keyed = { id: number }
const news = (keys: readonly Keyed[]): object => ({
  news: keys
    .filter(({ id }) => id !== 3)
    .toReversed()
    .map(({ id }) => ({ id, title: `news ${id}` })),
})
const HANDLERS = {
  'n.S/ListPosts': () => ({ posts: [1, 2, 3, 1, 0].map((newsId) => ({ newsId })) }),
  'n.S/GetMultipleNews': ({ ids, deep }: { ids: Keyed[]; deep: { news: Keyed }[] }) =>
    news(ids.length > 0 ? ids : deep.map((one) => one.news)),
  'n.S/GetWrapped': ({ request, wrappers }: { request?: { ids: Keyed[] }; wrappers: { value: number }[] }) =>
    news(request?.ids ?? wrappers.map(({ value }) => ({ id: value }))),
  'n.S/GetChosen': ({ choices }: { choices: { newsId: number }[] }) =>
    news(choices.map(({ newsId }) => ({ id: newsId }))),
}
const joinBy = (method: string, keys: string): JoinOptions => ({
  type: 'Post',
  field: 'news',
  batch: { method: `n.S.${method}`, keys, items: 'news', parentKey: 'newsId' },
})

describe('a batched join whose keys are in messages', () => {
  it.each([
    ['a field of each', 'GetMultipleNews', 'ids.id'],
    ['a field further down', 'GetMultipleNews', 'deep.news.id'],
    ['a list that is in a message', 'GetWrapped', 'request.ids.id'],
    ['a list of wrappers', 'GetWrapped', 'wrappers'],
    ['a field of a oneof', 'GetChosen', 'choices.newsId'],
    ['a name as the proto has it', 'GetChosen', 'choices.news_id'],
  ])('sends them as %s, planned or not', async (_what, method, keys) => {
    const answers: unknown[] = []
    for (const plans of [true, false]) {
      const server = await backend({ 'n.proto': PROTO }, HANDLERS as any)
      const events: PlanEvent[] = []
      const grpc = await source({
        protoText: { 'n.proto': PROTO },
        endpoint: server.address,
        joins: [joinBy(method, keys)],
        plans,
        onPlan: (event) => events.push(event),
      })
      answers.push(await run(yogaWith(grpc), '{ posts { newsId news { title } } }'))
      expect(server.callsOf(`n.S/${method}`)).toHaveLength(1)
      expect(events.map(({ outcome }) => outcome)).toEqual(plans ? ['planned'] : [])
    }
    const posts = [1, 2, 3, 1, 0].map((newsId) => ({
      newsId,
      news: newsId === 3 ? null : { title: `news ${newsId}` },
    }))
    expect(answers).toEqual([{ data: { posts } }, { data: { posts } }])
  })

  it.each([
    ['ids', 'batch.keys is "ids", a list of n.NewsId; end the path at the field that holds the key (ids.id)'],
    [
      'deep',
      'batch.keys is "deep", a list of n.Deep; end the path at the field that holds the key (deep.news.id)',
    ],
    [
      'deep.news',
      'batch.keys is "deep.news", which has the type n.NewsId; end the path at the field that holds the key (deep.news.id)',
    ],
    ['ids.nope', 'batch.keys is "ids.nope", but n.NewsId has no field "nope"; its fields are id, tags'],
    [
      'ids.id.more',
      'batch.keys is "ids.id.more", but n.NewsId.id has no field that can hold a key; end the path before "more"',
    ],
    [
      'ids.tags',
      'batch.keys is "ids.tags", but ids and tags are lists or maps; the path must contain exactly one list and no map',
    ],
    ['one.id', 'batch.keys is "one.id", but the path must contain a repeated field'],
  ])('stops the start on keys: %s', async (keys, message) => {
    const started = createGrpcSource({
      name: 't',
      protoText: { 'n.proto': PROTO },
      endpoint: 'localhost:1',
      joins: [joinBy('GetMultipleNews', keys)],
    })
    await expect(started).rejects.toThrow(message)
  })
})
