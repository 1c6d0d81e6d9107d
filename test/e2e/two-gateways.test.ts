import {
  connectRawWebSocket,
  createDisposables,
  describeWithRedis,
  requestMultipart,
  startRedis,
  type RawWebSocket,
  waitUntil,
} from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDemo, type GraphQLAnswer, type RunningDemo } from './support/demo.ts'

// The rules of composition on the demo as people run it, with every plugin on: two gateways, one Redis.

const disposables = createDisposables(afterAll)
let a: RunningDemo
let b: RunningDemo
let store: Redis

const USER = '{ user(id: "7") { name profile { bio } } }'
const REVIEWS = '{ listReviews(productId: "3") { id text } }'

const rename = (demo: RunningDemo, name: string): Promise<GraphQLAnswer> =>
  demo.query('mutation ($name: String!) { updateUser(id: "7", name: $name) { name } }', { name })
const cacheOf = ({ headers }: GraphQLAnswer): string | null => headers.get('x-cache')

async function openLive({ url }: RunningDemo, query: string): Promise<RawWebSocket> {
  const socket = await connectRawWebSocket(`${url.replace('http', 'ws')}/graphql/live`)
  disposables.use({ [Symbol.dispose]: () => socket.terminate() })
  socket.sendJson({ type: 'connection_init' })
  await socket.next()
  socket.sendJson({ id: '1', type: 'subscribe', payload: { query: `query @live ${query}` } })
  return socket
}

/** The data of the first update that the check accepts. */
async function updateWhere(socket: RawWebSocket, check: (data: any) => boolean): Promise<any> {
  for (;;) {
    const { data } = (await socket.nextJson()).payload
    if (check(data)) return data
  }
}

describeWithRedis('the demo behind two gateways and one Redis', () => {
  beforeAll(async () => {
    const redis = disposables.use(await startRedis())
    store = new Redis(redis.url)
    disposables.use({ [Symbol.dispose]: () => store.disconnect() })
    const gatewayEnv = { REDIS_URL: redis.url }
    a = disposables.use(await startDemo({ gatewayEnv }))
    b = disposables.use(await startDemo({ gatewayEnv, beside: a }))
  }, 240_000)

  it('rules 1 and 2: a gRPC mutation on one evicts on both, updates live queries on both, and is read at once', async () => {
    const live = [await openLive(a, USER), await openLive(b, USER)]
    for (const socket of live) await socket.nextJson()
    await a.query(USER)
    expect(cacheOf(await b.query(USER))).toBe('HIT')

    expect((await rename(a, 'Grace')).errors).toEqual([])
    const after = await a.query(USER)
    expect([after.data.user.name, cacheOf(after)]).toEqual(['Grace', 'MISS'])
    for (const socket of live) {
      expect((await updateWhere(socket, ({ user }) => user.name === 'Grace')).user.profile.bio).toMatch(
        /^Grace /,
      )
    }
    await expect.poll(async () => (await b.query(USER)).data.user.name).toBe('Grace')
  })

  it('rules 1 and 2, over REST', async () => {
    const live = await openLive(b, REVIEWS)
    const before = (await live.nextJson()).payload.data.listReviews.length
    await a.query(REVIEWS)
    expect(cacheOf(await b.query(REVIEWS))).toBe('HIT')
    await a.query('mutation { createReview(productId: "3", userId: "7", rating: 5, text: "Again") { id } }')
    const { data } = await a.query(REVIEWS)
    expect(data.listReviews).toHaveLength(before + 1)
    await updateWhere(live, ({ listReviews }) => listReviews.length === before + 1)
    await expect.poll(async () => (await b.query(REVIEWS)).data.listReviews.length).toBe(before + 1)
  })

  const deferredOf = (id: string): string => `{ user(id: "${id}") { name ... @defer { profile { bio } } } }`

  it('rule 3: a deferred answer of one is a hit of the other, plain and in parts', async () => {
    const stored = await store.dbsize()
    const isStored = async (): Promise<boolean> => (await store.dbsize()) > stored
    // Redis on a busy machine may take longer than a gateway waits, which then stores nothing: ask for another user.
    const ids = ['8', '6', '5', '4']
    let [id, head, tail] = ['', undefined as any, undefined as any]
    while (!(await isStored())) {
      const next = ids.shift()
      if (next === undefined) throw new Error('no answer was stored')
      id = next
      const first = await requestMultipart(`${a.url}/graphql`, { body: { query: deferredOf(id) } })
      expect(first.headers['x-cache']).toBe('MISS')
      ;[head, tail] = (await first.allParts()).map((part) => part.json())
      // The answer is stored after its last part was sent.
      await waitUntil(isStored, { timeoutMs: 3_000 }).catch(() => undefined)
    }
    const deferred = deferredOf(id)

    const plain = await b.query(`{ user(id: "${id}") { name profile { bio } } }`)
    expect(cacheOf(plain)).toBe('HIT')
    expect(plain.data.user).toEqual({ ...head.data.user, ...tail.incremental[0].data })
    const again = await requestMultipart(`${b.url}/graphql`, { body: { query: deferred } })
    expect(again.headers['x-cache']).toBe('HIT')
    expect((await again.allParts()).map((part) => part.json())).toEqual([head, tail])
  })

  it('rule 5: what one user was answered on one gateway is no hit for another on the other', async () => {
    const ask = async (demo: RunningDemo, authorization: string): Promise<string | null> =>
      cacheOf(await demo.query('{ user(id: "9") { name } }', {}, { authorization }))
    expect([
      await ask(a, 'Bearer x'),
      await ask(b, 'Bearer y'),
      await ask(b, 'Bearer x'),
      await ask(a, 'Bearer y'),
    ]).toEqual(['MISS', 'MISS', 'HIT', 'HIT'])
  })
})
