import {
  startRedis,
  startRedisCluster,
  startSentinelRedis,
  startTlsRedis,
  waitUntil,
} from '@vinyasa/test-kit'
import type { InvalidationEvent } from '@vinyasa/invalidation'
import { connectRedis, type ConnectRedis } from '@vinyasa/invalidation/redis'
import { type RedisStore } from '@vinyasa/response-cache/redis'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openStore as openRedisStore } from '../../packages/response-cache/src/redis/index.ts'
import { openRedisBus } from '../../packages/invalidation/src/redis/redis-bus.ts'

const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }
const PATIENCE = { timeoutMs: 30_000 }
const PREFIX = '{vinyasa:cache}:'

interface Topology {
  readonly connect: ConnectRedis
  /** Where another server takes the place of one. */
  readonly failOver?: () => Promise<void>
}

const topologies: Readonly<Record<string, () => Promise<Topology>>> = {
  async alone() {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    return { connect: (options) => new Redis(redis.url, options), failOver: () => redis.restart() }
  },
  async 'over TLS'() {
    const { url, ca, ...redis } = await startTlsRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    return { connect: (options) => new Redis(url, { ...options, tls: { ca } }) }
  },
  async 'behind Sentinel'() {
    const { sentinels, name, failOver, ...redis } = await startSentinelRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    return { connect: connectRedis({ sentinels, name }), failOver }
  },
  async 'as a cluster'() {
    const { nodes, failOver, ...redis } = await startRedisCluster()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    // Two of six: the others are found.
    return { connect: connectRedis({ cluster: nodes.slice(0, 2) }), failOver: () => failOver(PREFIX) }
  },
}

async function openBus({ connect }: Topology) {
  const seen: InvalidationEvent[] = []
  const bus = openRedisBus({ connect }, { heartbeatMs: 200 })
  onTestFinished(() => bus.close())
  await bus.ready
  bus.subscribe((events) => void seen.push(...events))
  return { bus, seen }
}

interface OpenedStore {
  readonly store: RedisStore
  readonly heard: string[]
}

async function openStore({ connect }: Topology): Promise<OpenedStore> {
  const store = openRedisStore({ connect }, { heartbeatMs: 100, commandMs: 2_000 })
  onTestFinished(() => store.close())
  const heard: string[] = []
  store.subscribe?.(
    (event) => void heard.push(event.type === 'invalidated' ? String(event.tags) : event.type),
  )
  await store.ready(20_000)
  return { store, heard }
}

const entry = (id: number) => ({
  storedAt: Date.now(),
  ttlMs: 600_000,
  staleMs: 0,
  body: Buffer.from(`{"data":{"id":${id}}}`),
  tags: ['User:1'],
  version: 0,
})

async function put({ store }: OpenedStore, key: string, id: number): Promise<boolean> {
  const read = await store.read(key)
  return read !== undefined && store.write(key, entry(id), read.version)
}
const has = async ({ store }: OpenedStore, key: string): Promise<boolean> =>
  (await store.read(key))?.entry !== undefined

const SERVER = process.env['EXPECTED_SERVER'] ?? 'redis'

it(`the server is ${SERVER}`, async () => {
  await using redis = await startRedis()
  const client = new Redis(redis.url)
  const info = await client.info('server')
  client.disconnect()
  // Redis has no such line.
  expect(/server_name:(\w+)/.exec(info)?.[1] ?? 'redis').toBe(SERVER)
})

describe.each(Object.entries(topologies))(`${SERVER} %s`, (_name, start) => {
  it('carries what changed, also when a server has died and another one took its place', async () => {
    const topology = await start()
    const [a, b] = [await openBus(topology), await openBus(topology)]
    const arrives = async (): Promise<void> => {
      b.seen.length = 0
      // A message may be lost while nobody is the master; what matters is that it does not go on.
      await waitUntil(async () => {
        await a.bus.publish([EVENT])
        return b.seen.some(({ entityId }) => entityId === '1')
      }, PATIENCE)
    }
    await arrives()
    if (!topology.failOver) return
    b.seen.length = 0
    await topology.failOver()
    await a.bus.publish([EVENT])
    // Heard as itself or as "anything": a change while nobody carried it is not lost.
    await waitUntil(() => b.seen.length > 0, PATIENCE)
    await arrives()
    await waitUntil(() => a.bus.isInTouch !== false, PATIENCE)
    expect(b.seen.every(({ entityType }) => ['User', '*'].includes(entityType))).toBe(true)
  })

  it('keeps answers for all gateways, and none that a server forgot to be outdated', async () => {
    const topology = await start()
    const [a, b] = [await openStore(topology), await openStore(topology)]
    expect(await put(a, 'x', 1)).toBe(true)
    expect(await has(b, 'x')).toBe(true)
    await a.store.invalidate(['User:1'])
    expect(await has(b, 'x')).toBe(false)
    await waitUntil(() => b.heard.includes('User:1'), PATIENCE)
    if (!topology.failOver) return
    expect(await put(a, 'y', 2)).toBe(true)
    await topology.failOver()
    await waitUntil(() => a.heard.at(-1) !== 'down' && b.heard.at(-1) !== 'down', PATIENCE)
    // Another server: whether it heard of every change nobody knows.
    expect(await has(b, 'y')).toBe(false)
    await waitUntil(() => put(a, 'z', 3), PATIENCE)
    await waitUntil(() => has(b, 'z'), PATIENCE)
    b.heard.length = 0
    await b.store.invalidate(['User:1'])
    expect(await has(a, 'z')).toBe(false)
  })
})

it('a server that begins anew from what it had saved serves nothing older than a change', async () => {
  await using redis = await startRedis()
  const topology: Topology = { connect: (options) => new Redis(redis.url, options) }
  const [a, b] = [await openStore(topology), await openStore(topology)]
  expect(await put(a, 'x', 1)).toBe(true)
  const client = new Redis(redis.url)
  await client.save()
  client.disconnect()
  await a.store.invalidate(['User:1'])
  await redis.restart()
  await waitUntil(() => b.heard.filter((event) => event === 'up').length > 1, PATIENCE)
  expect(await has(b, 'x')).toBe(false)
  const c = await openStore(topology)
  expect(await has(c, 'x')).toBe(false)
})
