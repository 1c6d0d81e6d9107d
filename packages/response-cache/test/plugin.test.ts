import { createFakeClock } from '@vinyasa/test-kit'
import { useExecutionCancellation } from 'graphql-yoga'
import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { CacheEvent } from '../src/index.ts'
import { ask, createWorld, type Answer, useExtensions } from './kit.ts'

const users = '{ users { id name } }'
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('Cached response entry (60 s / 30 s)', () => {
  const lifetime = { defaultTtlMs: 60_000, staleWhileRevalidateMs: 30_000 }
  const rows = [
    { at: 0, becomes: 'HIT', sentence: 'fresh at 0 s' },
    { at: 59_999, becomes: 'HIT', sentence: 'fresh below 60 s' },
    { at: 60_000, becomes: 'STALE', sentence: 'stale from 60 s' },
    { at: 90_000, becomes: 'STALE', sentence: 'stale within 90 s' },
    { at: 90_001, becomes: 'MISS', sentence: 'absent after 90 s' },
  ] as const
  it.each(rows)('$sentence', async ({ at, becomes }) => {
    const clock = createFakeClock()
    const world = createWorld({ cache: { ...lifetime, platform: { clock } } })
    expect((await ask(world, users)).cache).toBe('MISS')
    await clock.advance(at)
    expect((await ask(world, users)).cache).toBe(becomes)
  })

  it('a stale response is returned and one background refresh starts', async () => {
    const clock = createFakeClock()
    const world = createWorld({ cache: { ...lifetime, platform: { clock } } })
    await ask(world, users)
    world.users.set('1', { id: '1', name: 'Eve' })
    await clock.advance(61_000)
    const stale = await Promise.all([ask(world, users), ask(world, users), ask(world, users)])
    expect(stale.map((answer) => answer.cache)).toEqual(['STALE', 'STALE', 'STALE'])
    expect(stale[0].json.data.users[0].name).toBe('Ada')
    expect(stale[0].headers.get('age')).toBe('61')
    await clock.advance(0)
    expect(world.calls['users']).toBe(2)
    const fresh = await ask(world, users)
    expect(fresh.cache).toBe('HIT')
    expect(fresh.json.data.users[0].name).toBe('Eve')
  })

  it.each(['fresh', 'stale'] as const)('%s: a mutation runs, the entry is absent', async (state) => {
    const clock = createFakeClock()
    const world = createWorld({ cache: { ...lifetime, platform: { clock } } })
    await ask(world, users)
    await clock.advance(state === 'fresh' ? 1_000 : 61_000)
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    const after = await ask(world, users)
    expect([after.cache, after.json.data.users[0].name]).toEqual(['MISS', 'Eve'])
  })

  it('a refresh for a client that puts a password into its Host is reported, and does not end the process', async () => {
    const clock = createFakeClock()
    const errors: unknown[] = []
    const onEvent = (event: CacheEvent): void => void (event.type === 'error' && errors.push(event.error))
    const world = createWorld({ cache: { ...lifetime, platform: { clock }, onEvent } })
    const rejections: unknown[] = []
    const onRejection = (reason: unknown): void => void rejections.push(reason)
    process.on('unhandledRejection', onRejection)
    onTestFinished(() => void process.off('unhandledRejection', onRejection))
    await ask(world, users)
    await clock.advance(61_000)
    const url = 'http://user:password@localhost/graphql'
    const headers = { 'content-type': 'application/json' }
    await world.yoga.fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: users }) })
    await nextTurn()
    expect([errors.length, rejections]).toEqual([1, []])
    await ask(world, users)
    await nextTurn()
    expect((await ask(world, users)).cache).toBe('HIT')
  })

  it('a refresh that fails leaves the stale entry, and is tried again', async () => {
    const clock = createFakeClock()
    const world = createWorld({ cache: { ...lifetime, platform: { clock } } })
    await ask(world, users)
    world.gate = { before: Promise.reject(new Error('backend down')) }
    world.gate.before?.catch(() => {})
    await clock.advance(61_000)
    for (let round = 2; round < 5; round++) {
      expect((await ask(world, users)).cache).toBe('STALE')
      await clock.advance(0)
      expect(world.calls['users']).toBe(round)
    }
    world.gate = {}
    await ask(world, users)
    await clock.advance(0)
    expect((await ask(world, users)).cache).toBe('HIT')
  })

  it('a refresh runs for the one who asked, in a context of its own, behind waitUntil', async () => {
    const clock = createFakeClock()
    const contexts: { request: Request; mark?: number }[] = []
    const world = createWorld({
      cache: { ...lifetime, platform: { clock } },
      context: (initial) => {
        contexts.push(initial)
        return { mark: contexts.length }
      },
    })
    const me = '{ me { name } }'
    const headers = { authorization: 'Bearer a' }
    await ask(world, me, { headers })
    await clock.advance(61_000)
    const waiting: Promise<unknown>[] = []
    const response = await world.yoga.fetch(
      new Request('http://localhost/graphql', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query: me }),
      }),
      { waitUntil: (promise: Promise<unknown>) => waiting.push(promise) } as never,
    )
    expect(response.headers.get('x-cache')).toBe('STALE')
    expect(waiting).toHaveLength(1)
    await Promise.all(waiting)
    expect(world.calls['me']).toBe(2)
    const [asked, refreshed] = contexts.slice(-2)
    expect(refreshed).not.toBe(asked)
    expect(refreshed?.request).not.toBe(asked?.request)
    const fresh = await ask(world, me, { headers })
    expect([fresh.cache, fresh.json.data.me.name]).toEqual(['HIT', 'Bearer a'])
    expect((await ask(world, me)).cache).toBe('MISS')
  })

  it('without stale_while_revalidate an entry of default_ttl is a miss', async () => {
    const clock = createFakeClock()
    const world = createWorld({ cache: { platform: { clock } } })
    await ask(world, users)
    await clock.advance(60_000)
    expect((await ask(world, users)).cache).toBe('MISS')
  })
})

describe('Cached operations', () => {
  it('a query is cached and does not invalidate', async () => {
    const world = createWorld()
    const first = await ask(world, users)
    await ask(world, '{ products { id } }')
    const second = await ask(world, users)
    expect([first.cache, second.cache, world.calls['users']]).toEqual(['MISS', 'HIT', 1])
    expect(second.text).toBe(first.text)
  })

  it('a mutation is not cached and triggers invalidation', async () => {
    const world = createWorld()
    await ask(world, users)
    const rename = 'mutation { renameUser(id: "1", name: "Eve") { id name } }'
    expect((await ask(world, rename)).cache).toBe('BYPASS')
    expect((await ask(world, rename)).cache).toBe('BYPASS')
    expect(world.calls['renameUser']).toBe(2)
    const after = await ask(world, users)
    expect([after.cache, after.json.data.users[0].name]).toEqual(['MISS', 'Eve'])
  })

  it('a subscription is not cached and does not invalidate', async () => {
    const world = createWorld()
    await ask(world, users)
    await ask(world, '{ count }')
    const subscribe = (): Promise<Answer> =>
      ask(world, 'subscription { tick }', { headers: { accept: 'text/event-stream' } })
    const events = [(await subscribe()).text, (await subscribe()).text]
    expect(events[0]).toContain('{"data":{"tick":1}}')
    expect(events[1]).toContain('{"data":{"tick":2}}')
    expect([(await ask(world, users)).cache, (await ask(world, '{ count }')).cache]).toEqual(['HIT', 'HIT'])
    expect(world.cache.stats()).toMatchObject({ stored: 2, invalidations: 0 })
  })

  it('invalidate_on_mutation false leaves entries in place', async () => {
    const world = createWorld({ cache: { invalidateOnMutation: false } })
    await ask(world, users)
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    expect((await ask(world, users)).cache).toBe('HIT')
    expect((await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')).cache).toBe('BYPASS')
  })

  it('errors, introspection and maxAge 0 are never cached', async () => {
    const world = createWorld({ cache: { ttlMsBySchemaCoordinate: { 'Query.products': 0 } } })
    for (const query of ['{ broken { id } }', '{ __schema { queryType { name } } }', '{ products { id } }']) {
      await ask(world, query)
      expect((await ask(world, query)).cache).not.toBe('HIT')
    }
    expect(world.calls).toMatchObject({ broken: 2, products: 2 })
  })
})

describe('what a mutation evicts', () => {
  it('leaves unrelated entries', async () => {
    const world = createWorld()
    await ask(world, '{ products { id name } }')
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    expect((await ask(world, '{ products { id name } }')).cache).toBe('HIT')
  })

  it('types: a create evicts lists', async () => {
    const world = createWorld()
    await ask(world, users)
    await ask(world, 'mutation { createUser(name: "Eve") { id } }')
    expect((await ask(world, users)).json.data.users).toHaveLength(3)
  })

  it('a mutation that names no type evicts everything', async () => {
    const world = createWorld()
    await ask(world, users)
    await ask(world, 'mutation { deleteUser(id: "2") }')
    expect((await ask(world, users)).json.data.users).toHaveLength(1)
  })

  it('a query that names no type is evicted by any mutation', async () => {
    const world = createWorld()
    await ask(world, '{ count }')
    expect((await ask(world, '{ count }')).json.data.count).toBe(1)
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    expect((await ask(world, '{ count }')).json.data.count).toBe(2)
  })

  it('a mutation that failed after it committed evicts too', async () => {
    const world = createWorld()
    await ask(world, users)
    await ask(world, 'mutation { fail { id } }')
    expect((await ask(world, users)).json.data.users[0].name).toBe('half done')
  })

  it('entities: only entries that hold the entity', async () => {
    const world = createWorld({ cache: { strategy: 'entities' } })
    const one = '{ user(id: "1") { id name } }'
    const two = '{ user(id: "2") { id name } }'
    const unidentified = '{ user(id: "2") { name } }'
    for (const query of [one, two, unidentified]) await ask(world, query)
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    expect((await ask(world, one)).cache).toBe('MISS')
    expect((await ask(world, two)).cache).toBe('HIT')
    expect((await ask(world, unidentified)).cache).toBe('MISS')
  })

  it('entities: a message that nobody filled names none of them', async () => {
    const world = createWorld({ cache: { strategy: 'entities' } })
    const one = '{ user(id: "1") { id name } }'
    await ask(world, one)
    expect((await ask(world, 'mutation { renameUser(id: "", name: "") { id } }')).json).toEqual({
      data: { renameUser: { id: '' } },
    })
    expect((await ask(world, one)).cache).toBe('MISS')
  })

  it('all: everything', async () => {
    const world = createWorld({ cache: { strategy: 'all' } })
    await ask(world, '{ products { id } }')
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    expect((await ask(world, '{ products { id } }')).cache).toBe('MISS')
  })

  it('a function decides', async () => {
    const causes: unknown[] = []
    const world = createWorld({
      cache: { strategy: (cause) => (causes.push(cause), [{ type: 'Product' }]) },
    })
    await ask(world, users)
    await ask(world, '{ products { id } }')
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    expect((await ask(world, users)).cache).toBe('HIT')
    expect((await ask(world, '{ products { id } }')).cache).toBe('MISS')
    expect(causes).toEqual([
      { source: 'mutation', events: [], types: ['User'], entities: [{ type: 'User', id: '1' }] },
    ])
  })

  it('events on the bus evict, `*` evicts everything', async () => {
    const bus = createInvalidationBus()
    const world = createWorld({ cache: { bus } })
    await ask(world, users)
    await ask(world, '{ products { id } }')
    await bus.publish([{ entityType: 'User', operation: 'update', entityId: '1' }])
    expect((await ask(world, users)).cache).toBe('MISS')
    expect((await ask(world, '{ products { id } }')).cache).toBe('HIT')
    await bus.publish([{ entityType: '*', operation: '*' }])
    expect((await ask(world, '{ products { id } }')).cache).toBe('MISS')
    await world.cache.close()
    await bus.publish([{ entityType: 'Product', operation: 'update' }])
    expect(world.cache.stats().invalidations).toBe(2)
  })
})

describe('concurrency', () => {
  it('100 concurrent misses are one execution', async () => {
    const world = createWorld()
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(world, users)))
    expect(world.calls['users']).toBe(1)
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(answers.filter((answer) => answer.cache === 'COALESCED')).toHaveLength(99)
  })

  it('errors are never shared: each waiter executes for itself', async () => {
    const world = createWorld()
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(world, '{ broken { id } }')))
    expect(world.calls['broken']).toBe(5)
    expect(answers.every((answer) => answer.json.errors.length === 1)).toBe(true)
  })

  it('a client that leaves stops waiting; the execution goes on for the others', async () => {
    const world = createWorld()
    let release: (value?: unknown) => void = () => {}
    world.gate = { after: new Promise((resolve) => (release = resolve)) }
    const leaving = new AbortController()
    const leader = ask(world, users)
    while (!world.calls['users']) await nextTurn()
    const left = ask(world, users, { signal: leaving.signal })
    const follower = ask(world, users)
    await nextTurn()
    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    release()
    expect([(await leader).cache, (await follower).cache]).toEqual(['MISS', 'COALESCED'])
    expect(world.calls['users']).toBe(1)
    expect(world.cache.stats().coalesced).toBe(1)
  })

  it('a leader that leaves is followed by one of those who wait', async () => {
    const world = createWorld({ after: [useExecutionCancellation()] })
    let release: (value?: unknown) => void = () => {}
    world.gate = { before: new Promise((resolve) => (release = resolve)) }
    const leaving = new AbortController()
    const leader = ask(world, users, { signal: leaving.signal })
    while (!world.calls['users']) await nextTurn()
    const followers = Array.from({ length: 20 }, () => ask(world, users))
    await nextTurn()
    leaving.abort()
    await expect(leader).rejects.toThrow('aborted')
    release()
    const answers = await Promise.all(followers)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.json.data.users).toHaveLength(2)
    expect(world.calls['users']).toBe(2)
  })

  it('a mutation during a query in flight never leaves the old value', async () => {
    const world = createWorld()
    let release: (value?: unknown) => void = () => {}
    world.gate = { after: new Promise((resolve) => (release = resolve)) }
    const inFlight = ask(world, users)
    while (!world.calls['users']) await new Promise((resolve) => setImmediate(resolve))
    await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    world.gate = {}
    // Neither does a query after the mutation join the older execution.
    expect((await ask(world, users)).json.data.users[0].name).toBe('Eve')
    release()
    expect((await inFlight).json.data.users[0].name).toBe('Ada')
    expect((await ask(world, users)).json.data.users[0].name).toBe('Eve')
  })
})

describe('who gets what', () => {
  it('users with different Authorization never share an entry or an execution', async () => {
    const world = createWorld()
    const names = ['Bearer a', 'Bearer b', '', undefined]
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(
        names.map((authorization) =>
          ask(world, '{ me { name } }', authorization === undefined ? {} : { headers: { authorization } }),
        ),
      )
      expect(answers.map((answer) => answer.json.data.me.name)).toEqual([
        'Bearer a',
        'Bearer b',
        '',
        'nobody',
      ])
    }
    expect(world.calls['me']).toBe(4)
  })

  it('with the defaults a request with cookies is left out: a cookie may say who asks', async () => {
    const world = createWorld({
      after: [
        {
          onExecute({ args, executeFn, setExecuteFn }) {
            setExecuteFn(async (given) => {
              await executeFn(given)
              const { request } = args.contextValue as { request: Request }
              return { data: { me: { name: request.headers.get('cookie') ?? 'nobody' } } }
            })
          },
        },
      ],
    })
    const me = '{ me { name } }'
    const seen: string[] = []
    for (const cookie of ['session=a', undefined, 'session=b', 'session=a', undefined]) {
      const answer = await ask(world, me, cookie === undefined ? {} : { headers: { cookie } })
      seen.push(`${answer.json.data.me.name} ${answer.cache}`)
    }
    expect(seen).toEqual([
      'session=a BYPASS',
      'nobody MISS',
      'session=b BYPASS',
      'session=a BYPASS',
      'nobody HIT',
    ])
  })

  it.each([
    ['varyHeaders', { varyHeaders: ['Cookie'] }],
    ['session', { session: () => null }],
  ])('cookies count as whoever sets %s says', async (_option, options) => {
    const world = createWorld({ cache: options })
    const headers = { cookie: 'session=a' }
    await ask(world, users, { headers })
    expect((await ask(world, users, { headers })).cache).toBe('HIT')
  })

  it('result extensions are never shared', async () => {
    const world = createWorld({
      after: [useExtensions({ trace: 'mine' })],
    })
    expect((await ask(world, users)).json.extensions).toEqual({ trace: 'mine' })
    const hit = await ask(world, users)
    expect([hit.cache, hit.json.extensions]).toEqual(['HIT', undefined])
  })

  it.each([{ status: 404 }, { headers: { 'set-cookie': 'session=of-one' } }])(
    'what a result says of its own head in `extensions.http` is the same at each request: %o',
    async (http) => {
      const world = createWorld({ after: [useExtensions({ http })] })
      for (const [method, count] of [
        ['POST', 1],
        ['POST', 2],
        ['GET', 3],
      ] as const) {
        const answer = await ask(world, users, { method })
        expect(answer).toMatchObject({ status: http.status ?? 200, cache: 'MISS' })
        expect(answer.headers.get('set-cookie')).toBe(http.headers?.['set-cookie'] ?? null)
        expect(answer.json.extensions).toBeUndefined()
        expect(world.calls['users']).toBe(count)
      }
      const [one, other] = await Promise.all([ask(world, users), ask(world, users)])
      expect([one.status, other.status]).toEqual([http.status ?? 200, http.status ?? 200])
      expect(world.cache.stats().entries).toBe(0)
    },
  )

  it('a plugin that changes a hit is heard', async () => {
    const world = createWorld({
      after: [
        {
          onExecutionResult({ result, setResult }) {
            setResult({ ...(result as object), extensions: { seen: true } } as never)
          },
        },
        {
          onExecutionResult({ result }) {
            const { data } = result as { data: { users: { name: string }[] } }
            for (const user of data.users) user.name = user.name.toUpperCase()
          },
        },
      ],
    })
    const miss = await ask(world, users)
    const hit = await ask(world, users)
    expect(hit.cache).toBe('HIT')
    expect(hit.json).toEqual(miss.json)
    expect(hit.json).toEqual({
      data: {
        users: [
          { id: '1', name: 'ADA' },
          { id: '2', name: 'BOB' },
        ],
      },
      extensions: { seen: true },
    })
  })

  it('an operation that is not from HTTP is not cached: nothing says for whom it is', async () => {
    const world = createWorld()
    for (let round = 1; round <= 2; round++) {
      const { parse, execute, schema, contextFactory } = world.yoga.getEnveloped({})
      await execute({ schema, document: parse(users), contextValue: await contextFactory() })
      expect(world.calls['users']).toBe(round)
    }
    expect(world.cache.stats()).toMatchObject({ stored: 0, hits: 0 })
  })

  it('a live execution is never answered from the cache', async () => {
    const world = createWorld({ context: () => ({ liveQuery: {} }) })
    await ask(world, users)
    await ask(world, users)
    expect(world.calls['users']).toBe(2)
  })
})

describe('purge and stats', () => {
  it('purges by type, entity, key and all', async () => {
    const keys: string[] = []
    const world = createWorld({
      cache: { onEvent: (event) => event.type === 'stored' && keys.push(event.key) },
    })
    const targets = [
      () => ({ type: 'User' }),
      () => ({ type: 'User', id: '1' }),
      () => ({ key: keys.at(-1) ?? '' }),
      () => 'all' as const,
    ]
    for (const target of targets) {
      await ask(world, users)
      expect((await ask(world, users)).cache).toBe('HIT')
      await world.cache.purge(target())
      expect((await ask(world, users)).cache).toBe('MISS')
    }
    await world.cache.purge({ type: 'Product' })
    expect((await ask(world, users)).cache).toBe('HIT')
  })

  it('counts and bounds', async () => {
    const world = createWorld({ cache: { maxSize: 2 } })
    for (const text of ['a', 'b', 'c', 'c']) await ask(world, `{ echo(text: "${text}") }`)
    expect(world.cache.stats()).toMatchObject({ entries: 2, hits: 1, misses: 3, stored: 3, evicted: 1 })
  })

  it('refuses options that cannot work', () => {
    expect(() => createWorld({ cache: { maxSize: -1 } })).toThrow(
      'response-cache: option maxSize is -1; expected a number of at least 0',
    )
    expect(() => createWorld({ cache: { ttlMsBySchemaCoordinate: { User: Number.NaN } } })).toThrow(
      'response-cache: option ttlMsBySchemaCoordinate.User is NaN; expected a number of at least 0',
    )
  })
})

describe('options', () => {
  it('maxSize 0 stores nothing; concurrent queries still share an execution', async () => {
    const world = createWorld({ cache: { maxSize: 0 } })
    const outcomes = (await Promise.all([ask(world, users), ask(world, users)])).map(({ cache }) => cache)
    expect(outcomes).toEqual(['MISS', 'COALESCED'])
    expect((await ask(world, users)).cache).toBe('MISS')
    expect(world.cache.stats()).toMatchObject({ entries: 0, stored: 0 })
  })

  it('defaultTtlMs 0 caches what has a lifetime of its own', async () => {
    const world = createWorld({
      cache: { defaultTtlMs: 0, ttlMsBySchemaCoordinate: { 'Query.products': 1_000 } },
    })
    for (const query of [users, '{ products { id } }']) await ask(world, query)
    expect((await ask(world, users)).cache).toBe('BYPASS')
    expect((await ask(world, '{ products { id } }')).cache).toBe('HIT')
  })

  it('idFields says what identifies an entity', async () => {
    const world = createWorld({ cache: { strategy: 'entities', idFields: ['title', 'id'] } })
    const user = '{ user(id: "1") { id posts { title author { id } } } }'
    await ask(world, user)
    await world.cache.purge({ type: 'User', id: 'Ada' })
    expect((await ask(world, user)).cache).toBe('HIT')
    await world.cache.purge({ type: 'User', id: '1' })
    expect((await ask(world, user)).cache).toBe('MISS')
  })

  it('clientMaxAge promises a year of an answer without an end, as RFC 9111 has no more to say', async () => {
    const world = createWorld({
      cache: { platform: { clock: createFakeClock() }, clientMaxAge: true, defaultTtlMs: Infinity },
    })
    const answer = await ask(world, users, { method: 'GET' })
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000')
  })

  it('clientMaxAge lets HTTP clients keep a GET for the rest of its lifetime', async () => {
    const clock = createFakeClock()
    const world = createWorld({ cache: { platform: { clock }, clientMaxAge: true } })
    const first = await ask(world, users, { method: 'GET' })
    expect(first.headers.get('cache-control')).toBe('public, max-age=60')
    await clock.advance(20_000)
    const second = await ask(world, users, { method: 'GET' })
    expect([second.cache, second.headers.get('cache-control')]).toEqual(['HIT', 'public, max-age=40'])
  })

  it("the names of @envelop/response-cache are refused with this package's", () => {
    const options = { ttl: 2_000 } as object
    expect(() => createWorld({ cache: options })).toThrow(
      'response-cache: option ttl belongs to @envelop/response-cache; use defaultTtlMs.',
    )
    expect(() => createWorld({ cache: { shouldCacheResult: () => true } as object })).toThrow(
      'response-cache: option shouldCacheResult belongs to @envelop/response-cache; remove the option, because @vinyasa/response-cache does not have it.',
    )
  })
})

describe('HTTP', () => {
  it('a GET carries validators and 304 answers the same key only', async () => {
    const world = createWorld()
    const first = await ask(world, users, { method: 'GET' })
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toBe('public, no-cache')
    expect(first.headers.get('vary')).toContain('Authorization')
    const again = await ask(world, users, { method: 'GET', headers: { 'if-none-match': etag } })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    const other = await ask(world, '{ products { id } }', {
      method: 'GET',
      headers: { 'if-none-match': etag },
    })
    expect(other.status).toBe(200)
    const personal = await ask(world, users, { method: 'GET', headers: { authorization: 'Bearer a' } })
    expect(personal.headers.get('cache-control')).toBe('private, no-cache')
  })

  it('the validator of an entry is computed once', async () => {
    const world = createWorld()
    await ask(world, users)
    const hash = vi.spyOn(crypto, 'hash')
    syncBuiltinESMExports()
    onTestFinished(() => {
      hash.mockRestore()
      syncBuiltinESMExports()
    })
    const get = async (): Promise<string | null> =>
      (await ask(world, users, { method: 'GET' })).headers.get('etag')
    const first = await get()
    const calls = (): number => hash.mock.calls.filter(([, data]) => typeof data !== 'string').length
    expect([calls(), await get(), await get(), calls()]).toEqual([1, first, first, 1])
  })

  it('a GET that a plugin extended has no validator: the stored bytes are not what goes out', async () => {
    let tag = 'one'
    const world = createWorld({
      after: [
        {
          onExecutionResult: ({ result, setResult }) =>
            setResult({ ...(result as object), extensions: { tag } } as never),
        },
      ],
    })
    for (tag of ['miss', 'hit']) {
      const answer = await ask(world, users, { method: 'GET' })
      expect(answer.json.extensions).toEqual({ tag })
      expect(answer.headers.get('etag')).toBeNull()
    }
  })

  it('a batch tells one outcome for each operation', async () => {
    const world = createWorld()
    await ask(world, users)
    const response = await world.yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ query: users }, { query: '{ products { id } }' }]),
    })
    expect(await response.json()).toEqual([
      {
        data: {
          users: [
            { id: '1', name: 'Ada' },
            { id: '2', name: 'Bob' },
          ],
        },
      },
      { data: { products: [{ id: '1' }] } },
    ])
    expect(response.headers.get('x-cache')).toBe('HIT, MISS')
  })
})

it('gives nothing out that is older than its bus lets it be', async () => {
  const bus: InvalidationBus & { maxAgeMs?: number | undefined } = { ...createInvalidationBus() }
  const clock = createFakeClock()
  const world = createWorld({ cache: { bus, platform: { clock }, staleWhileRevalidateMs: 60_000 } })
  const read = async () => (await ask(world, '{ users { name } }')).cache
  expect(await read()).toBe('MISS')
  await clock.advance(3_000)
  expect(await read()).toBe('HIT')
  bus.maxAgeMs = 3_000
  expect([await read(), await read()]).toEqual(['MISS', 'HIT'])
  await clock.advance(2_999)
  expect(await read()).toBe('HIT')
  await clock.advance(1)
  expect(await read()).toBe('MISS')
})

it('gives nothing out while its bus is out of touch, and what still holds when it is back', async () => {
  const bus = { ...createInvalidationBus(), isInTouch: true }
  const world = createWorld({ cache: { bus } })
  const read = async () => (await ask(world, '{ users { name } }')).cache
  expect([await read(), await read()]).toEqual(['MISS', 'HIT'])
  bus.isInTouch = false
  // Whoever asks now asks for itself: one under way may be older than a change that is not heard of.
  expect(await Promise.all([read(), read()])).toEqual(['BYPASS', 'BYPASS'])
  expect(world.calls['users']).toBe(3)
  bus.isInTouch = true
  expect(await read()).toBe('HIT')
  await bus.publish([{ entityType: 'User', operation: 'update' }])
  expect(await read()).toBe('MISS')
})
