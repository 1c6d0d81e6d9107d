import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { startGateway } from '../../apps/gateway/test/support/gateway.ts'
import { startNats, startRedis, waitUntil } from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'

const CHANNEL = '{vinyasa:cache}:invalidations'
const MUTATIONS = 10
/** What the mutation announced, and what its document says that it changes. */
const TOLD_A_MUTATION = 2

interface Fleet {
  /** Asks one of the gateways. */
  ask(index: number, query: string): Promise<{ name: string; cache: string | null }>
  /** Runs something and counts what the store was told, each of which it tells all gateways. */
  toldDuring(work: () => Promise<void>): Promise<number>
}

async function startFleet(size: number, broker: 'redis' | 'nats'): Promise<Fleet> {
  const redis = await startRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  const nats = broker === 'nats' ? await startNats() : undefined
  onTestFinished(() => nats?.[Symbol.asyncDispose]())
  const names = { current: 'Ada' }
  const config: GatewayConfig = {
    redisUrl: redis.url,
    ...(nats && { nats: { servers: nats.url } }),
    responseCache: true,
    typeDefs:
      'type User { id: ID! name: String } type Query { user: User } type Mutation { rename(name: String!): User }',
    dependencies: { 'Query.user': { variesBy: [] } },
    resolvers: {
      Query: { user: () => ({ id: '1', name: names.current }) },
      Mutation: {
        rename(_: unknown, { name }: { name: string }) {
          names.current = name
          return { id: '1', name }
        },
      },
    },
  }
  const gateways = await Promise.all(Array.from({ length: size }, () => startGateway(config)))
  const listener = new Redis(redis.url)
  onTestFinished(() => listener.disconnect())
  let told = 0
  listener.on('message', () => void told++)
  await listener.subscribe(CHANNEL)

  async function ask(index: number, query: string): Promise<{ name: string; cache: string | null }> {
    const answer = await fetch(gateways[index % size]?.endpoint ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    const { data } = (await answer.json()) as { data: Record<string, { name: string }> }
    return { name: Object.values(data)[0]?.name ?? '', cache: answer.headers.get('x-cache') }
  }

  for (const index of gateways.keys())
    await waitUntil(async () => (await ask(index, USER)).cache === 'HIT', { timeoutMs: 30_000 })
  return {
    ask,
    async toldDuring(work) {
      const before = told
      await work()
      // What comes late comes before this.
      await listener.ping()
      return told - before
    },
  }
}

const USER = '{ user { id name } }'

describe.each(['redis', 'nats'] as const)(
  'gateways with a cache in Redis that tell each other over %s',
  (broker) => {
    it.each([2, 4, 8])(
      '%i of them tell the cache of a mutation once, and read nothing older',
      async (size) => {
        const { ask, toldDuring } = await startFleet(size, broker)
        const stale: unknown[] = []
        const told = await toldDuring(async () => {
          for (let index = 0; index < MUTATIONS; index++) {
            await ask(index, `mutation { rename(name: "${index}") { id name } }`)
            const reads = await Promise.all(Array.from({ length: size }, (_, reader) => ask(reader, USER)))
            stale.push(...reads.filter(({ name }) => name !== String(index)))
          }
        })
        expect(stale).toEqual([])
        expect(told).toBeLessThanOrEqual(MUTATIONS * TOLD_A_MUTATION)
      },
    )
  },
)
