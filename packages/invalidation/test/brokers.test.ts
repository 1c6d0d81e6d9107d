import {
  describeWith,
  startNats,
  startRedis,
  startTcpServer,
  waitUntil,
  withTimeout,
  type RestartableServer,
} from '@vinyasa/test-kit'
import { createRedisEventTarget } from '@graphql-yoga/redis-event-target'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createNatsInvalidationBus, openNatsBus } from '../src/nats/nats-bus.ts'
import { createRedisInvalidationBus, openRedisBus } from '../src/redis/redis-bus.ts'
import {
  createDistributedInvalidationBus,
  type BrokerBus,
  type DistributedInvalidationBus,
  type InvalidationEvent,
} from '../src/index.ts'
import type { BusEventTarget, BusInternals, BusState } from '../src/bus/distributed-bus.ts'

const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }
const ANYTHING = { entityType: '*', operation: '*' }
const isAnything = ({ entityType }: InvalidationEvent): boolean => entityType === '*'
/** No heartbeat is sent within a test. */
const NEVER_MS = 1e9
const CHANNEL = 'vinyasa:invalidation'

interface BusOptions {
  readonly onState?: (state: BusState) => void
}

interface Broker {
  readonly program: string
  start(): Promise<RestartableServer & { readonly url: string }>
  createBus(url: string, options: BusOptions, internals: BusInternals): BrokerBus
  /** What somebody else writes to the channel. */
  publish(url: string, text: string): Promise<void>
  /** Hears what comes on the channel, until the returned function is called. */
  listen(url: string, hear: (text: string) => void): Promise<() => void>
}

const brokers: Readonly<Record<string, Broker>> = {
  createRedisInvalidationBus: {
    program: 'redis-server',
    start: startRedis,
    createBus: (url, options, internals) => openRedisBus({ ...options, url }, internals),
    async publish(url, text) {
      const client = new Redis(url)
      await client.publish(CHANNEL, text)
      client.disconnect()
    },
    async listen(url, hear) {
      const client = new Redis(url)
      client.on('message', (_channel, text) => hear(text))
      await client.subscribe(CHANNEL)
      return () => client.disconnect()
    },
  },
  createNatsInvalidationBus: {
    program: 'nats-server',
    start: startNats,
    createBus: (servers, options, internals) => openNatsBus({ ...options, servers }, internals),
    async publish(servers, text) {
      const client = await connect({ servers })
      client.publish(CHANNEL, text)
      await client.drain()
    },
    async listen(servers, hear) {
      const client = await connect({ servers })
      client.subscribe(CHANNEL, { callback: (_error, message) => hear(message.string()) })
      await client.flush()
      return () => void client.close()
    },
  },
}

for (const [name, { program, start, createBus, publish, listen }] of Object.entries(brokers)) {
  describeWith(program, name, () => {
    let broker: Awaited<ReturnType<typeof start>>
    const buses: BrokerBus[] = []
    const rejections: unknown[] = []
    const onRejection = (reason: unknown): void => void rejections.push(reason)
    beforeAll(async () => {
      broker = await start()
      process.on('unhandledRejection', onRejection)
    })
    afterEach(() => {
      for (const bus of buses.splice(0)) bus.close()
      if (rejections.length > 0) throw new Error('Unhandled rejections', { cause: rejections })
    })
    afterAll(async () => {
      process.off('unhandledRejection', onRejection)
      await broker[Symbol.asyncDispose]()
    })

    async function gateway(heartbeatMs = 100) {
      const states: string[] = []
      const seen: InvalidationEvent[] = []
      const bus = createBus(broker.url, { onState: (state) => states.push(state) }, { heartbeatMs })
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

    it('waits for all others, and bothers none of them with the replies', async () => {
      const buses = [await gateway(NEVER_MS), await gateway(NEVER_MS), await gateway(NEVER_MS)]
      const applied: number[] = []
      for (const [index, { bus }] of buses.entries())
        bus.subscribe(async () => {
          await new Promise((resolve) => setTimeout(resolve, 50))
          applied.push(index)
        })
      const heard: string[] = []
      const leave = await listen(broker.url, (text) => heard.push(text))
      onTestFinished(leave)
      const beganAt = performance.now()
      await buses[0]?.bus.publish([EVENT])
      expect(applied.sort()).toEqual([0, 1, 2])
      expect(performance.now() - beganAt).toBeLessThan(1_000)
      await publish(broker.url, '{"events":[]}')
      await waitUntil(() => heard.length > 1)
      expect(heard.map((text) => (JSON.parse(text) as { events: unknown[] }).events)).toEqual([[EVENT], []])
    })

    it('takes what a backend publishes itself, and survives text that is no JSON', async () => {
      const a = await gateway()
      await publish(broker.url, JSON.stringify({ events: [EVENT] }))
      await waitUntil(() => a.seen.length === 1)
      await publish(broker.url, '{"events": [')
      await waitUntil(() => a.seen.length === 2)
      expect(a.seen).toEqual([EVENT, ANYTHING])
    })

    it('serves its own listeners at once while the broker is gone, and tells everybody when it is back', async () => {
      const [a, b] = [await gateway(NEVER_MS), await gateway(NEVER_MS)]
      await broker.kill()
      await waitUntil(() => a.states.includes('disconnected') && b.states.includes('disconnected'))
      await withTimeout(a.bus.publish([EVENT]), 150, 'end of publish')
      expect(a.seen).toEqual([EVENT])
      await broker.restart()
      const changesOfAnything = ({ seen }: typeof a): number => seen.filter(isAnything).length
      // Once for the new connection, and once because the lost batch is missing.
      await waitUntil(() => changesOfAnything(b) >= 2)
      await waitUntil(() => changesOfAnything(a) >= 1)
      await waitUntil(() => a.states.at(-1) === 'connected' && b.states.at(-1) === 'connected')
      b.seen.length = 0
      await a.bus.publish([EVENT])
      await waitUntil(() => b.seen.length > 0)
      expect(b.seen).toEqual([EVENT])
      expect(a.states).toEqual(['connected', 'disconnected', 'connected'])
    })

    it('notices a broker that accepts connections and says nothing, and heals when it speaks again', async () => {
      const [a, b] = [await gateway(NEVER_MS), await gateway(NEVER_MS)]
      broker.stop()
      try {
        // The first batch waits 250 ms for the broker, the next one does not wait.
        await withTimeout(a.bus.publish([EVENT]), 600, 'end of the first publish')
        await withTimeout(a.bus.publish([EVENT]), 150, 'end of the second publish')
        expect(a.seen).toEqual([EVENT, EVENT])
        await waitUntil(() => b.states.includes('disconnected'))
      } finally {
        broker.cont()
      }
      await waitUntil(() => b.seen.some(isAnything))
    })
  })
}

// ioredis 5 ended the process here, out of its socket's handler.
it('survives a Redis whose answer is an array in an array, 30,000 deep', async () => {
  await using hostile = await startTcpServer({ answer: '*1\r\n'.repeat(30_000) })
  const errors: unknown[] = []
  await using bus = createRedisInvalidationBus({
    url: `redis://127.0.0.1:${hostile.port}`,
    onState: (_, error) => void errors.push(error),
  })
  await waitUntil(() => hostile.connections > 2)
  const seen: InvalidationEvent[] = []
  bus.subscribe((events) => void seen.push(...events))
  await bus.publish([EVENT])
  expect(seen).toEqual([EVENT])
  expect(errors).not.toEqual([])
})

it('a bus whose NATS is not there yet serves its own listeners, and connects when it is', async () => {
  await using nats = await startNats()
  await nats.kill()
  const states: string[] = []
  await using bus = createNatsInvalidationBus({
    servers: nats.url,
    onState: (state) => states.push(state),
  })
  const seen: InvalidationEvent[] = []
  bus.subscribe((events) => void seen.push(...events))
  await waitUntil(() => states.length > 0)
  await bus.publish([EVENT])
  expect([seen, bus.isInTouch]).toEqual([[EVENT], false])
  await nats.restart()
  await bus.ready
  expect([seen.at(-1), states, bus.isInTouch]).toEqual([ANYTHING, ['disconnected', 'connected'], true])
})

it('goes over the event target that Yoga has for Redis, too', async () => {
  await using redis = await startRedis()
  const seen: InvalidationEvent[] = []
  const clients: Redis[] = []
  const open = (): DistributedInvalidationBus => {
    const [publishClient, subscribeClient] = [new Redis(redis.url), new Redis(redis.url)]
    clients.push(publishClient, subscribeClient)
    // Its types are of ioredis 5.
    const eventTarget = createRedisEventTarget({ publishClient, subscribeClient } as never)
    return createDistributedInvalidationBus({ eventTarget: eventTarget as BusEventTarget })
  }
  const [a, b] = [open(), open()]
  b.subscribe((events) => void seen.push(...events))
  await waitUntil(async () => {
    await a.publish([EVENT])
    return seen.length > 0
  })
  expect(seen[0]).toEqual(EVENT)
  for (const bus of [a, b]) bus.close()
  for (const client of clients) await client.quit()
})
