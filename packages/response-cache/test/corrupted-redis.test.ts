import { describeWithRedis, startRedis, type RedisServer } from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { CacheEntry, RemoteEvent } from '../src/store/entry.ts'
import { openStore, type RedisStore } from '../src/redis/index.ts'

const PREFIX = '{vinyasa:cache}:'
const ENTRY: CacheEntry = {
  storedAt: 0,
  ttlMs: 60_000,
  staleMs: 0,
  body: Buffer.from('{"data":{}}'),
  tags: ['User:1'],
  version: 0,
}

/** Overwrites one key with a value that the cache did not write. */
interface Corruption {
  readonly name: string
  readonly corrupt: (client: Redis, key: string) => Promise<unknown>
}

const strings = ['', 'garbage', 'inf', '-inf', 'nan', '-5', '0x10', '1e400', '9999999999999999', ' 1', '1.5']
const values: Corruption[] = [
  ...strings.map((value): Corruption => ({
    name: `"${value}"`,
    corrupt: (client, key) => client.set(key, value),
  })),
  { name: 'a long string', corrupt: (client, key) => client.set(key, '9'.repeat(300_000)) },
  { name: 'a list', corrupt: (client, key) => client.rpush(key, 'x') },
  { name: 'a hash', corrupt: (client, key) => client.hset(key, { a: 'b' }) },
  { name: 'a set', corrupt: (client, key) => client.sadd(key, 'x') },
  { name: 'a sorted set', corrupt: (client, key) => client.zadd(key, 1, 'x') },
]

describeWithRedis('a corrupted Redis', () => {
  let redis: RedisServer
  let client: Redis
  let store: RedisStore
  const errors: unknown[] = []

  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
    store = openStore({ url: redis.url }, { commandMs: 2_000, heartbeatMs: 60_000 })
    await store.ready()
    store.subscribe?.((event: RemoteEvent) => void (event.type === 'down' && errors.push(event.error)))
  })
  beforeEach(async () => {
    await client.flushall()
    errors.length = 0
  })
  afterAll(async () => {
    await store.close()
    client.disconnect()
    await redis[Symbol.asyncDispose]()
  })

  async function writeAnew(): Promise<boolean> {
    const { version = Number.NaN } = (await store.read('key')) ?? {}
    return store.write('key', ENTRY, version)
  }

  const isServed = async (): Promise<boolean> => (await store.read('key'))?.entry !== undefined

  it.each(
    ['floor', 'seq', 'changed', 'changing', 'e:key'].flatMap((key) =>
      values.map((value) => ({ key, ...value })),
    ),
  )(
    '$key is $name: stays up, stores again, and serves nothing after an invalidation',
    async ({ key, corrupt }) => {
      expect(await writeAnew()).toBe(true)
      await client.del(PREFIX + key)
      await corrupt(client, PREFIX + key)
      if (key === 'changing') await store.changing?.().then((end) => end())
      await store.invalidate(['User:1'])
      expect(await isServed()).toBe(false)
      expect(await writeAnew()).toBe(true)
      expect(await isServed()).toBe(true)
      await store.invalidate(['User:1'])
      expect(await isServed()).toBe(false)
      expect(errors).toEqual([])
    },
  )

  it.each([
    ['a tag that is a list', { tags: '[["User:1"]]' }],
    ['a tag that is a number', { tags: '[1]' }],
    ['tags that are an object', { tags: '{"a":"User:1"}' }],
    ['deep tags', { tags: '['.repeat(100_000) }],
    ['a count in the future', { seq: '8999999999999999' }],
    ['an infinite count', { seq: 'inf' }],
    ['a body that is too long', { body: Buffer.alloc(70 * 1024 * 1024, '1') }],
  ])('an entry with %s is removed', async (_, fields) => {
    expect(await writeAnew()).toBe(true)
    await client.hset(`${PREFIX}e:key`, fields)
    expect(await isServed()).toBe(false)
    expect(await client.exists(`${PREFIX}e:key`)).toBe(0)
    expect(errors).toEqual([])
  })

  it('reports a store that fails again and again once a minute', async () => {
    for (let round = 0; round < 3; round++) {
      await redis.kill()
      await redis.restart()
      await store.ready(10_000)
    }
    expect(errors.filter((error) => error !== undefined)).toHaveLength(1)
  })
})
