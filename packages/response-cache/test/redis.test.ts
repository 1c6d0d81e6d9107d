import {
  createFakeClock,
  describeWithRedis,
  startNetwork,
  startRedis,
  startTcpServer,
  waitUntil,
  type RedisServer,
} from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createUndeliveredInvalidations, type ResponseCacheOptions } from '../src/index.ts'
import { createRedisStore, openStore, type RedisStore } from '../src/redis/index.ts'
import { ask, createWorld, type Answer, type World } from './kit.ts'

const users = '{ users { id name } }'
const rename = (name: string): string => `mutation { renameUser(id: "1", name: "${name}") { id } }`

describeWithRedis('two gateways and one Redis', () => {
  let redis: RedisServer
  let stores: RedisStore[] = []
  let worlds: World[] = []
  const rejections: unknown[] = []
  const onRejection = (reason: unknown): void => void rejections.push(reason)

  /** A busy machine may need longer than the default allows; without an answer there is no cache to test. */
  const patientStore = (heartbeatMs?: number): RedisStore =>
    openStore({ url: redis.url }, { commandMs: 2_000, heartbeatMs })

  async function gateway(
    options: ResponseCacheOptions = {},
    store = patientStore(50),
  ): Promise<World & { store: RedisStore }> {
    stores.push(store)
    await store.ready()
    const world = createWorld({ cache: { ...options, store } })
    worlds.push(world)
    return Object.assign(world, { store })
  }

  /** The memory of both gateways shares its users, as a backend would. */
  async function pair(options?: ResponseCacheOptions) {
    const a = await gateway(options)
    const b = await gateway(options)
    return { a, b }
  }

  const settled = (world: World, stored: number): Promise<unknown> =>
    waitUntil(() => world.cache.stats().stored >= stored, { awaited: 'the entry in Redis' })

  beforeEach(async () => {
    redis = await startRedis()
    process.on('unhandledRejection', onRejection)
  })
  afterEach(async () => {
    for (const world of worlds) await world.cache.close()
    worlds = []
    stores = []
    await redis[Symbol.asyncDispose]()
    process.off('unhandledRejection', onRejection)
    // oxlint-disable-next-line vitest/no-standalone-expect -- true of every test here
    expect(rejections).toEqual([])
  })

  it('share entries, byte for byte', async () => {
    const { a, b } = await pair()
    const miss = await ask(a, users)
    await settled(a, 1)
    const hit = await ask(b, users)
    expect([miss.cache, hit.cache, hit.text]).toEqual(['MISS', 'HIT', miss.text])
    // The second hit comes from b's own memory.
    expect((await ask(b, users)).cache).toBe('HIT')
    expect(b.calls['users']).toBeUndefined()
  })

  it.each<ResponseCacheOptions>([
    { defaultTtlMs: Infinity },
    { staleWhileRevalidateMs: Infinity },
    { ttlMsBySchemaCoordinate: { User: 1e300 } },
  ])('keep and share what lives for ever: %o', async (options) => {
    const { a, b } = await pair(options)
    await ask(a, users)
    await settled(a, 1)
    expect([(await ask(a, users)).cache, (await ask(b, users)).cache]).toEqual(['HIT', 'HIT'])
    expect([a.calls['users'], a.cache.stats().errors]).toEqual([1, 0])
  })

  it('a mutation on one evicts from Redis and from the memory of the other', async () => {
    const { a, b } = await pair()
    await ask(a, users)
    await settled(a, 1)
    expect((await ask(b, users)).cache).toBe('HIT')
    const before = b.cache.stats().invalidations
    await ask(a, rename('Eve'))
    await waitUntil(() => b.cache.stats().invalidations > before)
    expect((await ask(b, users)).cache).toBe('MISS')
  })

  it('a result older than an invalidation elsewhere is refused by Redis itself', async () => {
    const { a, b } = await pair()
    let release: (value?: unknown) => void = () => {}
    b.gate = { after: new Promise((resolve) => (release = resolve)) }
    const slow = ask(b, users)
    await waitUntil(() => b.calls['users'])
    await ask(a, rename('Eve'))
    release()
    await slow
    b.gate = {}
    await waitUntil(async () => (await ask(b, '{ products { id } }')).cache !== 'BYPASS')
    expect((await ask(b, users)).cache).toBe('MISS')
  })

  it('remembers a limited number of tags, and evicts everything beyond it', async () => {
    const { a, b } = await pair({ strategy: 'entities' })
    const client = new Redis(redis.url)
    const changed = '{vinyasa:cache}:changed'
    await ask(a, users)
    await settled(a, 1)
    const now = await client.get('{vinyasa:cache}:seq')
    // In parts: one script would block Redis for longer than the stores wait on a busy machine.
    for (let from = 1; from <= 250_000; from += 10_000)
      await client.eval(
        `for i = ${from}, ${from + 9_999} do redis.call('ZADD', '${changed}', ${now}, 'Product:' .. i) end return 1`,
        0,
      )
    expect((await ask(b, users)).cache).toBe('HIT')
    await b.cache.purge({ type: 'Product', id: '1' })
    expect(await client.zcard(changed)).toBe(2)
    const c = await gateway({ strategy: 'entities' })
    expect((await ask(c, users)).cache).toBe('MISS')
    client.disconnect()
  })

  it('what is too old to matter is forgotten a part at a time', async () => {
    const changed = '{vinyasa:cache}:changed'
    const client = new Redis(redis.url)
    const store = (heartbeatMs: number): RedisStore => {
      const opened = openStore({ url: redis.url }, { commandMs: 2_000, heartbeatMs, rememberMs: 60_000 })
      stores.push(opened)
      return opened
    }
    const quiet = store(600_000)
    await quiet.ready()
    const old = Array.from({ length: 5_500 }, (_, index) => [index, `old:${index}`]).flat()
    await client.zadd(changed, ...old)
    const count = async (): Promise<number> => client.zcount(changed, '-inf', 10_000)
    await quiet.invalidate(['User'])
    expect(await count()).toBe(4_500)
    await quiet.invalidate('all')
    expect(await count()).toBe(3_500)
    // One that is not told of changes forgets as well.
    await store(20).ready()
    await waitUntil(async () => (await count()) === 0)
    await client.zadd(changed, ...old.slice(0, 20))
    await waitUntil(async () => (await count()) === 0)
    expect(await client.zscore(changed, 'User')).not.toBeNull()
    expect(await client.zcard(changed)).toBe(3)
    client.disconnect()
    for (const one of stores) await one.close()
  })

  it('killed: both kinds of operation are answered, and again from the cache after a restart', async () => {
    const { a } = await pair()
    await ask(a, users)
    await settled(a, 1)
    await redis.kill()
    await waitUntil(() => a.cache.stats().errors > 0)
    expect((await ask(a, users)).cache).toBe('BYPASS')
    expect((await ask(a, rename('Eve'))).json.data.renameUser.id).toBe('1')
    expect((await ask(a, users)).json.data.users[0].name).toBe('Eve')
    await redis.restart()
    await waitUntil(async () => (await ask(a, users)).cache === 'HIT')
    expect((await ask(a, users)).json.data.users[0].name).toBe('Eve')
    // One report for each change of state, not for each request; a busy machine may add one of its own.
    expect(a.cache.stats().errors).toBeLessThanOrEqual(2)
  })

  it(
    'hung: the first request waits at most the command timeout, the rest do not wait',
    { retry: 2 },
    async () => {
      const store = openStore({ url: redis.url }, { heartbeatMs: 60_000 })
      await store.ready()
      const world = createWorld({ cache: { store } })
      worlds.push(world)
      redis.stop()
      const time = async (query: string) => {
        const start = performance.now()
        const answer = await ask(world, query)
        expect(answer.json.errors).toBeUndefined()
        return performance.now() - start
      }
      const first = await time(users)
      const second = await time('{ products { id } }')
      const mutation = await time(rename('Eve'))
      process.stdout.write(
        `hung Redis: first ${first.toFixed()} ms, then ${second.toFixed()}, mutation ${mutation.toFixed()} ms\n`,
      )
      expect(first).toBeGreaterThan(100)
      expect(first).toBeLessThan(600)
      expect(second + mutation).toBeLessThan(140)
      redis.cont()
    },
  )

  it('an invalidation during an outage reaches Redis before anything is read again', async () => {
    const { a, b } = await pair()
    await ask(a, users)
    await settled(a, 1)
    redis.stop()
    await waitUntil(() => a.cache.stats().errors > 0 && b.cache.stats().errors > 0)
    a.users.set('1', { id: '1', name: 'old' })
    await ask(a, rename('Eve'))
    redis.cont()
    await waitUntil(async () => (await ask(a, '{ products { id } }')).cache !== 'BYPASS')
    expect((await ask(a, users)).json.data.users[0].name).toBe('Eve')
  })

  it('an invalidation during an outage reaches Redis though its gateway is replaced meanwhile', async () => {
    const undelivered = createUndeliveredInvalidations()
    const old = await gateway({}, createRedisStore({ url: redis.url, undelivered }))
    await ask(old, users)
    await settled(old, 1)
    redis.stop()
    await waitUntil(() => old.cache.stats().errors > 0)
    await ask(old, rename('Eve'))
    await old.cache.close()
    const store = createRedisStore({ url: redis.url, undelivered })
    redis.cont()
    const next = await gateway({}, store)
    next.users.set('1', { id: '1', name: 'Eve' })
    expect((await ask(next, users)).json.data.users[0].name).toBe('Eve')
    expect(undelivered.hasAny).toBe(false)
  })

  it('what another store of the process could not deliver is out of memory at once, and out of Redis before the next read', async () => {
    const undelivered = createUndeliveredInvalidations()
    const a = await gateway({}, openStore({ url: redis.url, undelivered }, { heartbeatMs: 60_000 }))
    await ask(a, users)
    await settled(a, 1)
    a.users.set('1', { id: '1', name: 'Eve' })
    expect((await ask(a, users)).json.data.users[0].name).toBe('Ada')
    undelivered.add(['User'], 'another store')
    const next = await ask(a, users)
    expect([next.cache, next.json.data.users[0].name]).toEqual(['BYPASS', 'Eve'])
    await waitUntil(async () => (await ask(a, users)).cache === 'HIT')
    expect((await ask(a, users)).json.data.users[0].name).toBe('Eve')
    expect(undelivered.hasAny).toBe(false)
  })

  it('flushed: a result read before is not stored after', async () => {
    const { a } = await pair()
    let release: (value?: unknown) => void = () => {}
    a.gate = { after: new Promise((resolve) => (release = resolve)) }
    const slow = ask(a, users)
    await waitUntil(() => a.calls['users'])
    const client = new Redis(redis.url)
    await client.flushall()
    release()
    await slow
    a.gate = {}
    expect((await ask(a, users)).cache).toBe('MISS')
    await settled(a, 1)
    expect((await ask(a, users)).cache).toBe('HIT')
    client.disconnect()
  })

  it('whatever the server evicts for want of memory, nothing is served that was changed', async () => {
    const store = openStore({ url: redis.url }, { heartbeatMs: 60_000 })
    await store.ready()
    const client = new Redis(redis.url)
    const keys = async (): Promise<string[]> =>
      (await client.keys('{vinyasa:cache}:*')).filter((key) => !key.includes(':e:'))
    const put = async (key: string): Promise<void> => {
      const body = Buffer.from('{"data":{}}')
      const entry = { storedAt: Date.now(), ttlMs: 60_000, staleMs: 0, body, tags: ['User:1'], version: 0 }
      const { version } = (await store.read(key))!
      expect(await store.write(key, entry, version)).toBe(true)
    }
    await put('first')
    await store.invalidate(['User:1'])
    for (const evicted of await keys()) {
      await put('entry')
      await store.invalidate(['User:1'])
      await client.del(evicted)
      expect((await store.read('entry'))?.entry).toBeUndefined()
    }
    expect((await keys()).length).toBeGreaterThan(2)
    client.disconnect()
    await store.close()
  })

  it('poisoned and foreign values are misses, removed and counted', async () => {
    const keys: string[] = []
    // Filling Redis blocks it for longer than a store waits by default.
    const onEvent: ResponseCacheOptions['onEvent'] = (event) =>
      event.type === 'stored' && keys.push(event.key)
    const a = await gateway({ onEvent }, patientStore())
    const b = await gateway({ onEvent }, patientStore())
    const client = new Redis(redis.url)
    await ask(a, users)
    await settled(a, 1)
    const name = `{vinyasa:cache}:e:${keys[0]}`
    const good = await client.hgetall(name)
    const poisons: (() => Promise<unknown>)[] = [
      () => client.set(name, 'garbage'),
      () => client.rpush(name, 'x'),
      () => client.hset(name, { body: '{"data":' }),
      () => client.hset(name, { ...good, body: '{"data":{"users":[]}}' }),
      () => client.hset(name, { ...good, tags: 'nonsense' }),
      () => client.hset(name, { ...good, meta: '[1]' }),
      () => client.hset(name, { ...good, seq: 'NaN' }),
    ]
    for (const poison of poisons) {
      await client.del(name)
      await poison()
      const read = await b.store.read(keys[0] ?? '')
      expect(read?.entry).toBeUndefined()
      expect(await client.exists(name)).toBe(0)
    }
    expect(b.store.poisoned).toBe(6)
    client.disconnect()
  })

  it('10 000 invalidations with a kill -9 among them: no entry outlives its invalidation, no rejection', async () => {
    const { a, b } = await pair()
    let killed: Promise<void> | undefined
    for (let round = 0; round < 100; round++) {
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => a.cache.purge({ type: n % 2 ? 'User' : 'Product' })),
      )
      if (round === 30) killed = redis.kill()
      if (round === 60) await killed?.then(() => redis.restart())
      const answer = await ask(a, rename(`name ${round}`)).then(() => ask(a, users))
      expect(answer.json.data.users[0].name).toBe(`name ${round}`)
    }
    await waitUntil(async () => (await ask(a, users)).cache === 'HIT')
    await waitUntil(async () => (await ask(b, users)).cache === 'HIT')
    expect((await ask(b, users)).json.data.users[0].name).toBe('name 99')
  })

  it('no command blocks Redis at 200k keys', async () => {
    const keys: string[] = []
    const onEvent: ResponseCacheOptions['onEvent'] = (event) =>
      event.type === 'stored' && keys.push(event.key)
    const a = await gateway({ onEvent }, patientStore())
    const b = await gateway({ onEvent }, patientStore())
    const client = new Redis(redis.url)
    // In parts: one script would block Redis for longer than the stores wait on a busy machine.
    for (let from = 1; from <= 200_000; from += 10_000)
      await client.eval(
        `for i = ${from}, ${from + 9_999} do redis.call('SET', '{vinyasa:cache}:e:filler' .. i, 'x') end return 1`,
        0,
      )
    const timesOf = async (run: () => Promise<unknown>): Promise<number[]> => {
      await client.slowlog('RESET')
      await run()
      const log = (await client.slowlog('GET', -1)) as [number, number, number, string[]][]
      return log.map(([, , micros]) => micros).sort((one, other) => one - other)
    }
    await client.config('SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '100000')
    const [keysTook = 0] = (await timesOf(() => client.keys('{vinyasa:cache}:x*'))).slice(-1)
    const ours = await timesOf(async () => {
      for (let round = 0; round < 50; round++) {
        await ask(a, users)
        await ask(b, users)
        await ask(a, rename(`n${round}`))
      }
      await a.cache.purge({ key: keys[0] ?? '' })
      await a.cache.purge({ type: 'User', id: '1' })
      await a.cache.purge('all')
      await ask(a, users)
    })
    // The slowest of all says how long the machine kept Redis waiting.
    const p99 = ours[Math.floor(ours.length * 0.99)] ?? Number.NaN
    process.stdout.write(
      `200k keys in Redis: ${ours.length} commands, p99 ${p99} µs, slowest ${ours.at(-1)} µs; one KEYS ${keysTook} µs\n`,
    )
    expect(p99).toBeLessThan(keysTook / 5)
    const ran = await client.info('commandstats')
    expect(ran).toContain('cmdstat_hset:')
    expect(ran).toContain('cmdstat_keys:calls=1,')
    expect(ran).not.toMatch(/cmdstat_(scan|flushall|flushdb|del)\b/)
    client.disconnect()
  })

  it('100 concurrent misses are one execution', async () => {
    const a = await gateway({}, patientStore())
    for (let round = 1; round <= 5; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(a, users)))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(a.calls['users']).toBe(round)
      await a.cache.purge('all')
    }
  })

  it('reads and mutations at once: a read never shows less than the last answered mutation', async () => {
    const a = await gateway({ strategy: 'entities' }, patientStore())
    const b = await gateway({ strategy: 'entities' }, patientStore())
    let answered = 0
    let written = 0
    const shown = ({ json }: Answer): number => Number(json.data.users[0].name)
    const write = async (): Promise<void> => {
      const value = ++written
      await ask(a, rename(String(value)))
      answered = Math.max(answered, value)
    }
    const read = async (): Promise<void> => {
      const oldest = answered
      const answer = await ask(a, users)
      expect(shown(answer), `${answer.cache}`).toBeGreaterThanOrEqual(oldest)
    }
    await write()
    const reader = async (): Promise<void> => {
      for (let round = 0; round < 60; round++) await read()
    }
    const writer = async (): Promise<void> => {
      for (let round = 0; round < 30; round++) await write()
    }
    const elsewhere = async (): Promise<void> => {
      for (let round = 0; round < 30; round++) await b.cache.purge({ type: 'User', id: '1' })
    }
    await Promise.all([reader(), reader(), reader(), reader(), writer(), elsewhere()])
    expect(a.cache.stats().hits + a.cache.stats().coalesced).toBeGreaterThan(10)
  })

  it('an invalidation that a gateway could not hear, as its connections were cut, counts there too', async () => {
    const a = await gateway()
    const client = new Redis(redis.url)
    const ids = async (): Promise<string[]> =>
      [...String(await client.client('LIST')).matchAll(/^id=(\d+)/gm)].map(([, id = '']) => id)
    const before = await ids()
    const b = await gateway()
    const ofB = (await ids()).filter((id) => !before.includes(id))
    await ask(b, users)
    await settled(b, 1)
    expect((await ask(b, users)).cache).toBe('HIT')
    await Promise.all(ofB.map((id) => client.client('KILL', 'ID', id)))
    await ask(a, rename('Eve'))
    await waitUntil(() => b.cache.stats().errors > 0)
    await waitUntil(async () => (await ask(b, '{ products { id } }')).cache !== 'BYPASS')
    expect(ofB).toHaveLength(2)
    expect((await ask(b, users)).cache).toBe('MISS')
    client.disconnect()
  })

  it('killed while it changes something, a gateway leaves nothing behind for itself or others', async () => {
    const dying = openStore({ url: redis.url }, { heartbeatMs: 50 })
    const a = await gateway({}, dying)
    await ask(a, users)
    await settled(a, 1)
    a.gate = { committed: new Promise(() => {}) }
    void ask(a, rename('Eve'))
    await waitUntil(() => a.users.get('1')?.name === 'Eve', { awaited: 'the commit' })
    // As after kill -9: it says nothing any more.
    await dying.close()
    const again = await gateway()
    const seen = async () => (await ask(again, users)).cache
    expect(await seen()).toBe('HIT')
    await waitUntil(async () => (await seen()) === 'MISS', { awaited: 'the eviction of everything' })
  })

  it('a gateway that changes nothing, or has ended a change well, may end without a word', async () => {
    const a = await gateway()
    await ask(a, rename('Eve'))
    await ask(a, users)
    await settled(a, 1)
    await waitUntil(async () => {
      const client = new Redis(redis.url)
      const changing = await client.zcard('{vinyasa:cache}:changing')
      client.disconnect()
      return changing === 0
    })
    await a.store.close()
    const b = await gateway()
    // Three heartbeats, and a second at least, after which silence would count.
    await new Promise((resolve) => setTimeout(resolve, 1_300))
    expect((await ask(b, users)).cache).toBe('HIT')
  })

  it('gives connections up whose other ends are gone without a word, and makes new ones', async () => {
    await using network = await startNetwork(redis.port)
    const store = openStore({ url: `redis://127.0.0.1:${network.port}` }, { heartbeatMs: 50 })
    const told: string[] = []
    store.subscribe?.(({ type }) => void told.push(type))
    await store.ready(15_000)
    network.halfOpen()
    await waitUntil(() => told.at(-1) === 'down')
    await waitUntil(() => told.at(-1) === 'up')
    expect(await store.read('x')).toMatchObject({ entry: undefined })
    await store.close()
  })

  it('close ends its connections', async () => {
    const { a, b } = await pair()
    const client = new Redis(redis.url)
    const connected = async (): Promise<number> =>
      String(await client.client('LIST'))
        .trim()
        .split('\n').length - 1
    expect(await connected()).toBe(4)
    await a.cache.close()
    await b.cache.close()
    await waitUntil(async () => (await connected()) === 0)
    client.disconnect()
  })
})

it('a bad redis_url is a start-up error', () => {
  for (const [address, shown] of [
    ['me:secret@localhost:6379', 'localhost:6379'],
    ['http://me:se@cret@localhost/1', 'http://localhost/1'],
    ['//:secret/@localhost', 'localhost'],
  ] as const)
    for (const create of [
      () => createWorld({ cache: { redisUrl: address } }),
      () => createRedisStore({ url: address }),
    ])
      expect(create).toThrow(`response-cache: option redisUrl is "${shown}"; expected`)
  for (const redisUrl of ['localhost:6379', 'http://localhost', '']) {
    expect(() => createWorld({ cache: { redisUrl } })).toThrow(
      `response-cache: option redisUrl is "${redisUrl}"; expected a URL such as redis://localhost:6379.`,
    )
  }
})

// ioredis 5 ended the process here, out of its socket's handler.
it('a Redis whose answer is an array in an array, 30,000 deep, costs the cache and nothing else', async () => {
  await using hostile = await startTcpServer({ answer: '*1\r\n'.repeat(30_000) })
  const world = createWorld({ cache: { redisUrl: `redis://127.0.0.1:${hostile.port}` } })
  await waitUntil(() => hostile.connections > 2)
  const { json, cache } = await ask(world, users)
  expect(json).toHaveProperty('data.users')
  expect(cache).toBe('BYPASS')
  await world.cache.close()
})

describeWithRedis('redisUrl', () => {
  it('opens the store by itself', async () => {
    const redis = await startRedis()
    const a = createWorld({ cache: { redisUrl: redis.url } })
    const b = createWorld({ cache: { redisUrl: redis.url } })
    await waitUntil(async () => (await ask(a, users)).cache === 'HIT')
    await waitUntil(async () => (await ask(b, users)).cache === 'HIT')
    expect(b.calls['users'] ?? 0).toBeLessThanOrEqual(b.cache.stats().bypassed)
    await a.cache.close()
    await b.cache.close()
    await redis[Symbol.asyncDispose]()
  })

  it('a stale hit is refreshed, and the refresh is stored for all', async () => {
    const redis = await startRedis()
    const clock = createFakeClock()
    const options = {
      redisUrl: redis.url,
      platform: { clock },
      defaultTtlMs: 60_000,
      staleWhileRevalidateMs: 30_000,
    }
    const a = createWorld({ cache: options })
    const b = createWorld({ cache: options })
    await waitUntil(async () => (await ask(a, users)).cache === 'HIT')
    await waitUntil(async () => (await ask(b, users)).cache === 'HIT')
    for (const { users: rows } of [a, b]) rows.set('1', { id: '1', name: 'Eve' })
    await clock.advance(61_000)
    expect((await ask(a, users)).cache).toBe('STALE')
    await waitUntil(async () => (await ask(a, users)).cache === 'HIT')
    const shared = await ask(b, users)
    expect([shared.cache, shared.json.data.users[0].name]).toEqual(['HIT', 'Eve'])
    await a.cache.close()
    await b.cache.close()
    await redis[Symbol.asyncDispose]()
  })
})
