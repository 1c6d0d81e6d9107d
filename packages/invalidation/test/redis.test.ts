import { describeWithRedis, startRedis, startTcpServer, waitUntil, type RedisServer } from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createRedisInvalidationBus, type RedisInvalidationBus } from '../src/redis.ts'
import type { InvalidationEvent } from '../src/index.ts'

const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }
const ANYTHING = { entityType: '*', operation: '*' }

describeWithRedis('createRedisInvalidationBus', () => {
  let redis: RedisServer
  const buses: RedisInvalidationBus[] = []
  const rejections: unknown[] = []
  const onRejection = (reason: unknown): void => void rejections.push(reason)
  beforeAll(async () => {
    redis = await startRedis()
    process.on('unhandledRejection', onRejection)
  })
  afterEach(() => {
    for (const bus of buses.splice(0)) bus.close()
    if (rejections.length > 0) throw new Error('Unhandled rejections', { cause: rejections })
  })
  afterAll(async () => {
    process.off('unhandledRejection', onRejection)
    await redis[Symbol.asyncDispose]()
  })

  async function gateway(heartbeatMs = 100) {
    const states: string[] = []
    const seen: InvalidationEvent[] = []
    const bus = createRedisInvalidationBus({
      url: redis.url,
      heartbeatMs,
      onStateChange: (state) => states.push(state),
    })
    buses.push(bus)
    await bus.ready
    bus.subscribe((events) => void seen.push(...events))
    // The first connection is a resync as well: let it pass.
    await new Promise((resolve) => setTimeout(resolve, 50))
    seen.length = 0
    return { bus, seen, states }
  }

  it('carries a batch to the other gateway, and once to its own listeners', async () => {
    const [a, b] = [await gateway(), await gateway()]
    await a.bus.publish([EVENT])
    expect(a.seen).toEqual([EVENT])
    await waitUntil(() => b.seen.length > 0)
    expect([a.seen, b.seen]).toEqual([[EVENT], [EVENT]])
  })

  it('takes what a backend publishes itself, and survives text that is no JSON', async () => {
    const a = await gateway()
    const client = new Redis(redis.url)
    await client.publish('vinyasa:invalidation', JSON.stringify({ events: [EVENT] }))
    await waitUntil(() => a.seen.length === 1)
    await client.publish('vinyasa:invalidation', '{"events": [')
    await waitUntil(() => a.seen.length === 2)
    expect(a.seen).toEqual([EVENT, ANYTHING])
    client.disconnect()
  })

  it(
    'serves its own listeners at once while Redis is gone, and tells everybody when it is back',
    { retry: 2 },
    async () => {
      const [a, b] = [await gateway(), await gateway()]
      await redis.kill()
      await waitUntil(() => a.states.includes('disconnected') && b.states.includes('disconnected'))
      const began = performance.now()
      await a.bus.publish([EVENT])
      expect(performance.now() - began).toBeLessThan(150)
      expect(a.seen).toEqual([EVENT])
      await redis.restart()
      await waitUntil(() => b.seen.some(({ entityType }) => entityType === '*'), { timeoutMs: 5000 })
      await waitUntil(() => a.seen.some(({ entityType }) => entityType === '*'), { timeoutMs: 5000 })
      await waitUntil(() => a.states.at(-1) === 'connected' && b.states.at(-1) === 'connected')
      // Let the heartbeat tell of the batch that was lost, then the next one comes as itself.
      await new Promise((resolve) => setTimeout(resolve, 250))
      b.seen.length = 0
      await a.bus.publish([EVENT])
      await waitUntil(() => b.seen.length > 0)
      expect(b.seen).toEqual([EVENT])
      // One outage is told once: on, off, on.
      expect(a.states).toEqual(['connected', 'disconnected', 'connected'])
    },
  )

  it(
    'notices a Redis that accepts connections and says nothing, and heals when it speaks again',
    { retry: 2 },
    async () => {
      const [a, b] = [await gateway(), await gateway()]
      redis.stop()
      try {
        const began = performance.now()
        await a.bus.publish([EVENT])
        expect(performance.now() - began).toBeLessThan(150)
        await waitUntil(() => b.states.includes('disconnected'), { timeoutMs: 8000 })
      } finally {
        redis.cont()
      }
      await waitUntil(() => b.seen.length > 0, { timeoutMs: 5000 })
    },
  )
})

// ioredis 5 ended the process here, out of its socket's handler.
it('survives a Redis whose answer is an array in an array, 30,000 deep', async () => {
  await using hostile = await startTcpServer({ answer: '*1\r\n'.repeat(30_000) })
  const errors: unknown[] = []
  await using bus = createRedisInvalidationBus({
    url: `redis://127.0.0.1:${hostile.port}`,
    onStateChange: (_, error) => void errors.push(error),
  })
  await waitUntil(() => hostile.connections > 2)
  const seen: InvalidationEvent[] = []
  bus.subscribe((events) => void seen.push(...events))
  await bus.publish([EVENT])
  expect(seen).toEqual([EVENT])
  expect(errors).not.toEqual([])
})
