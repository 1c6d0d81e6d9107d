import { createHash } from 'node:crypto'
import { connectRawWebSocket, describeWithRedis, startRedis } from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryStore } from '../../src/access/documents/apq.ts'
import type { GatewayConfig } from '../../src/config/types.ts'
import { createGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/logging/logger.ts'
import { post, startGateway } from '../support/gateway.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const named = (hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hash } } })

async function start(config: Partial<GatewayConfig> = {}) {
  let executed = 0
  const { endpoint } = await startGateway({
    apq: true,
    typeDefs: 'type Query { hello(a: String): Int }',
    resolvers: { Query: { hello: () => ++executed } },
    dependencies: { 'Query.hello': { variesBy: [] } },
    responseCache: true,
    graphql: { batching: 5 },
    liveQuery: { defaults: { enabled: true } },
    ...config,
  })
  const ask = async (body: unknown) => {
    const response = await post(endpoint, body)
    const { data, errors } = (await response.json()) as any
    const cache = response.headers.get('x-cache')
    return { status: response.status, cache, data, code: errors?.[0].extensions.code }
  }
  return { endpoint, ask }
}

const QUERY = 'query Known { hello }'
const HASH = sha256(QUERY)

describe('automatic persisted queries', () => {
  it('are asked for by hash, sent once, and hit the cache of everybody', async () => {
    const { ask } = await start()
    expect(await ask(named(HASH))).toMatchObject({ status: 200, code: 'PERSISTED_QUERY_NOT_FOUND' })
    const answer = { status: 200, data: { hello: 1 }, code: undefined }
    expect(await ask({ query: QUERY, ...named(HASH) })).toEqual({ ...answer, cache: 'MISS' })
    expect(await ask(named(HASH))).toEqual({ ...answer, cache: 'HIT' })
    expect(await ask({ query: QUERY })).toEqual({ ...answer, cache: 'HIT' })
    expect(await ask(named(HASH.toUpperCase()))).toEqual({ ...answer, cache: 'HIT' })
  })

  it('are found on every way in', async () => {
    const { endpoint, ask } = await start()
    await ask({ query: QUERY, ...named(HASH) })
    const extensions = JSON.stringify(named(HASH).extensions)
    const data = { data: { hello: 1 } }
    const get = await fetch(`${endpoint}?${new URLSearchParams({ extensions })}`)
    expect(await get.json()).toEqual(data)
    expect(await (await post(endpoint, [named(HASH), named(HASH)])).json()).toEqual([data, data])
    const form = new FormData()
    form.set('operations', JSON.stringify(named(HASH)))
    form.set('map', '{}')
    const multipart = await fetch(endpoint, { method: 'POST', body: form })
    expect(await multipart.json()).toEqual(data)

    const live = 'query Live @live { hello }'
    await ask({ query: live, ...named(sha256(live)) })
    const stream = await post(endpoint, named(sha256(live)), { accept: 'text/event-stream' })
    const { value } = (await stream.body?.getReader().read()) ?? {}
    expect(new TextDecoder().decode(value as Uint8Array)).toContain('"hello"')

    for (const path of ['', '/live']) {
      await using socket = await connectRawWebSocket(endpoint.replace('http', 'ws') + path)
      socket.sendJson({ type: 'connection_init' })
      await socket.nextJson()
      const unknown = sha256(path)
      for (const [id, hash, expected] of [
        ['a', HASH, 'next'],
        ['b', unknown, 'error'],
      ]) {
        socket.sendJson({ type: 'subscribe', id, payload: { query: '', ...named(hash ?? '') } })
        let answer = await socket.nextJson()
        while (answer.id !== id) answer = await socket.nextJson()
        expect([id, answer.type]).toEqual([id, expected])
      }
    }
  })

  it.each([
    ['a hash of another text', { query: '{ hello }', ...named(HASH) }, 400, 'PERSISTED_QUERY_MISMATCH'],
    ['what is no hash', named('../../etc/passwd'), 200, 'PERSISTED_QUERY_NOT_FOUND'],
    ['a name of Object.prototype', named('constructor'), 200, 'PERSISTED_QUERY_NOT_FOUND'],
  ])('%s is refused', async (_, body, status, code) => {
    const { ask } = await start()
    expect(await ask(body)).toMatchObject({ status, code })
  })

  it('another version is not ours: a text is answered, a hash alone is no query', async () => {
    const { ask } = await start()
    const other = { extensions: { persistedQuery: { version: 2, sha256Hash: HASH } } }
    expect(await ask({ query: QUERY, ...other })).toMatchObject({ data: { hello: 1 } })
    expect((await ask(other)).data).toBeUndefined()
  })

  it('hold no more bytes than they may, the oldest go first, and none takes all the place', () => {
    const store = createMemoryStore(64_000)
    for (let index = 0; index < 1_000; index++) store.set(String(index), 'x'.repeat(500))
    const kept = Array.from({ length: 1_000 }, (_, index) => store.get(String(index))).filter(Boolean)
    expect(kept.length).toBeGreaterThan(30)
    expect(kept.length).toBeLessThan(64)
    expect(store.get('999')).toBeDefined()
    store.set('large', 'x'.repeat(10_000))
    expect(store.get('large')).toBeUndefined()
  })

  it.each<[GatewayConfig, string]>([
    [{ persistedDocuments: { from: [], mode: 'only' } as never }, 'apq: persistedDocuments.mode "only"'],
  ])('cannot be with %j', async (config, message) => {
    const logger = await createLogger({ level: 'silent' })
    const made = createGateway({ apq: true, ...config }, { baseDirectory: '/', logger })
    await expect(made).rejects.toThrow(message)
  })
})

describeWithRedis('automatic persisted queries with Redis', () => {
  it('are shared between gateways, never what another wrote there, and go on without it', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const [a, b] = [await start({ redisUrl: redis.url }), await start({ redisUrl: redis.url })]
    await a.ask({ query: QUERY, ...named(HASH) })
    await expect.poll(() => b.ask(named(HASH))).toMatchObject({ status: 200, code: undefined })

    const client = new Redis(redis.url)
    onTestFinished(() => client.disconnect())
    expect(await client.ttl(`vinyasa:apq:${HASH}`)).toBeGreaterThan(86_000)
    const poisoned = sha256('{ other: hello }')
    await client.set(`vinyasa:apq:${poisoned}`, '{ evil: hello }')
    expect(await b.ask(named(poisoned))).toMatchObject({ code: 'PERSISTED_QUERY_NOT_FOUND' })

    redis.stop()
    expect(await b.ask(named(HASH))).toMatchObject({ status: 200, code: undefined })
    expect(await b.ask(named(sha256('x')))).toMatchObject({ code: 'PERSISTED_QUERY_NOT_FOUND' })
  })
})
