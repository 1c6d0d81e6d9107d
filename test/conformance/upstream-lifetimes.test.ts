import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createResponseCache, useResponseCache, type ResponseCacheOptions } from '@vinyasa/response-cache'
import {
  createRestConnector,
  field,
  useRestConnector,
  type RestConnectorOptions,
} from '@vinyasa/rest-connector'
import { createFakeClock, describeWithRedis, startRedis, waitUntil, type FakeClock } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { openStore } from '../../packages/response-cache/src/redis/index.ts'

// What an upstream says of caching limits how long results made of its responses are kept, and what caches of clients are told.

const TTL_MS = 10_000

type Reply = Readonly<Record<string, string>>
type Form = readonly [name: string, headers: (nowMs: number) => Reply, freshMs: number]

const date = (ms: number): string => new Date(ms).toUTCString()
const control = (value: string, freshMs: number): Form => [
  `Cache-Control: ${value}`,
  () => ({ 'cache-control': value }),
  freshMs,
]

const forms: readonly Form[] = [
  ['nothing', () => ({}), TTL_MS],
  control('no-store', 0),
  control('private', 0),
  control('Private, max-age=60', 0),
  control('no-cache', 0),
  control('no-cache="set-cookie", max-age=60', 0),
  control('max-age=0', 0),
  control('max-age=2', 2_000),
  control('MAX-AGE="2", must-revalidate', 2_000),
  control('max-age=soon', 0),
  control('public, max-age=3600', TTL_MS),
  control('s-maxage=2', 2_000),
  control('max-age=60, s-maxage=2', 2_000),
  control('max-age=2, s-maxage=60', 2_000),
  control('max-age=2, stale-while-revalidate=60', 2_000),
  ['max-age with Age', () => ({ 'cache-control': 'max-age=5', age: '3' }), 2_000],
  ['max-age with more Age', () => ({ 'cache-control': 'max-age=5', age: '9' }), 0],
  ['Expires', (now) => ({ expires: date(now + 2_000) }), 2_000],
  ['Expires in the past', (now) => ({ expires: date(now - 2_000) }), 0],
  ['Expires: 0', () => ({ expires: '0' }), 0],
  ['Vary: *', () => ({ vary: '*' }), 0],
]

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

interface World {
  readonly clock: FakeClock
  calls: number
  ask(options?: { method?: string; query?: string; accept?: string; on?: number }): Promise<{
    cache: string | null
    control: string | null
    text: string
  }>
}

async function start(
  headersAt: (nowMs: number) => Reply,
  options: ResponseCacheOptions = {},
  connector: Partial<RestConnectorOptions> = {},
  servers = 1,
): Promise<World> {
  const clock = createFakeClock()
  const upstream = createServer((_request, response) => {
    world.calls++
    const headers = { 'content-type': 'application/json', date: date(clock.wallNow()) }
    response.writeHead(200, { ...headers, ...headersAt(clock.wallNow()) })
    response.end(JSON.stringify({ id: '1', name: `call ${world.calls}` }))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  closing.push(() => (upstream.close(), upstream.closeAllConnections()))
  const yogas = Array.from({ length: servers }, () => {
    const rest = createRestConnector('users', {
      baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      endpoints: [
        {
          name: 'user',
          path: '/user',
          responseSchema: { typeName: 'User', fields: { id: field.id.required, name: field.string } },
        },
      ],
      clock,
      ...connector,
    })
    const cache = createResponseCache({
      defaultTtlMs: TTL_MS,
      clientMaxAge: true,
      platform: { clock },
      ...options,
    })
    closing.push(
      () => rest.close(),
      () => cache.close(),
    )
    const plugins = [useResponseCache(cache), useDeferSplitter(), useRestConnector(rest)]
    return createYoga({ logging: false, plugins })
  })
  const world: World = {
    clock,
    calls: 0,
    async ask({ method = 'POST', query = '{ user { id name } }', accept = 'application/json', on = 0 } = {}) {
      const url = `http://localhost/graphql${method === 'GET' ? `?query=${encodeURIComponent(query)}` : ''}`
      const isGet = method === 'GET'
      const response = await (yogas[on] as (typeof yogas)[0]).fetch(url, {
        method,
        headers: { accept, ...(!isGet && { 'content-type': 'application/json' }) },
        ...(!isGet && { body: JSON.stringify({ query }) }),
      })
      const text = await response.text()
      const { headers } = response
      return { cache: headers.get('x-cache'), control: headers.get('cache-control'), text }
    },
  }
  return world
}

const deferred = { query: '{ user { id ... @defer { name } } }', accept: 'multipart/mixed' }

describe.each(forms)('an upstream that says %s', (_name, headersAt, freshMs) => {
  it.each(['POST', 'GET'])('is obeyed by misses and hits: %s', async (method) => {
    const world = await start(headersAt, { staleWhileRevalidateMs: 60_000 })
    expect((await world.ask({ method })).cache).toBe('MISS')
    await world.clock.advance(Math.max(0, freshMs - 1))
    const { cache } = await world.ask({ method })
    expect(cache).toBe(freshMs > 0 ? 'HIT' : 'MISS')
    if (freshMs === TTL_MS) return
    await world.clock.advance(1)
    expect((await world.ask({ method })).text).toContain(freshMs > 0 ? 'call 2' : 'call 3')
  })

  it('is told on to caches of clients', async () => {
    const world = await start(headersAt)
    const expected = freshMs > 0 ? `public, max-age=${freshMs / 1_000}` : 'private, no-store'
    expect((await world.ask({ method: 'GET' })).control).toBe(expected)
    expect((await world.ask({ method: 'GET' })).control).toBe(expected)
  })

  it('is obeyed by deferred results', async () => {
    const world = await start(headersAt)
    const first = await world.ask(deferred)
    expect([first.cache, first.text]).toEqual(['MISS', expect.stringContaining('call 1')])
    await world.clock.advance(Math.max(0, freshMs - 1))
    expect((await world.ask()).cache).toBe(freshMs > 0 ? 'HIT' : 'MISS')
    expect((await world.ask({ ...deferred, method: 'GET' })).control).toMatch(/no-store/)
    await world.clock.advance(1)
    expect((await world.ask(deferred)).cache).toBe('MISS')
  })

  it("is obeyed with the connector's own cache", async () => {
    const world = await start(headersAt, {}, { cacheSize: 10 })
    await world.ask()
    // A second document is answered from the connector's cache, and is no fresher for that.
    await world.clock.advance(Math.max(0, freshMs - 1))
    await world.ask({ query: '{ user { name } }' })
    await world.clock.advance(1)
    // Where the upstream says nothing, the entry is as old as when it was made from the connector's cache.
    const { cache } = await world.ask({ query: '{ user { name } }' })
    expect(cache).toBe(freshMs < TTL_MS ? 'MISS' : 'HIT')
  })
})

describeWithRedis('entries in Redis', () => {
  it.each(forms)('of an upstream that says %s', async (_name, headersAt, freshMs) => {
    const redis = await startRedis()
    closing.push(() => redis[Symbol.asyncDispose]())
    let stored = 0
    const stores = [0, 1].map(() => openStore({ url: redis.url }, { commandMs: 2_000 }))
    const options: ResponseCacheOptions = {
      onEvent: (event) => void (event.type === 'stored' && stored++),
      get store() {
        return stores.pop()
      },
    }
    const world = await start(headersAt, options, {}, 2)
    await waitUntil(async () => (await world.ask()).cache !== 'BYPASS', { awaited: 'Redis' })
    if (freshMs > 0) await waitUntil(() => stored > 0, { awaited: 'the entry' })
    await world.clock.advance(Math.max(0, freshMs - 1))
    await waitUntil(async () => (await world.ask({ on: 1 })).cache !== 'BYPASS', { awaited: 'Redis' })
    expect((await world.ask({ on: 1 })).cache).toBe(freshMs > 0 ? 'HIT' : 'MISS')
    await world.clock.advance(1)
    expect((await world.ask({ on: 1 })).cache).toBe('MISS')
  })
})

it('limitsResponseCache: false lets the lifetimes of the response cache alone count', async () => {
  const world = await start(() => ({ 'cache-control': 'no-store' }), {}, { limitsResponseCache: false })
  await world.ask()
  await world.clock.advance(TTL_MS - 1)
  expect((await world.ask()).cache).toBe('HIT')
})
