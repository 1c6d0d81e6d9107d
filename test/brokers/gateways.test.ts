import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { startGateway } from '../../apps/gateway/test/support/gateway.ts'
import {
  startNats,
  startRedis,
  startRedisCluster,
  startSentinelRedis,
  startTlsRedis,
  waitUntil,
} from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'

interface Topology {
  readonly config: Pick<GatewayConfig, 'redis' | 'nats' | 'apq'>
  readonly failOver?: () => Promise<void>
}

const topologies: Readonly<Record<string, (folder: string) => Promise<Topology>>> = {
  async 'over TLS'(folder) {
    const { url, ca, ...redis } = await startTlsRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    writeFileSync(join(folder, 'ca.pem'), ca)
    return { config: { redis: { url, tls: { ca: 'ca.pem' } }, apq: true } }
  },
  async 'behind Sentinel'() {
    const { sentinels, name, failOver, ...redis } = await startSentinelRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    return { config: { redis: { sentinels, name }, apq: true }, failOver }
  },
  async 'as a cluster'() {
    const { nodes, failOver, ...redis } = await startRedisCluster()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    return {
      config: { redis: { cluster: nodes.slice(0, 2) }, apq: true },
      failOver: () => failOver('{vinyasa:cache}:'),
    }
  },
  async 'for caches, and NATS for changes'() {
    const [redis, nats] = [await startRedis(), await startNats()]
    onTestFinished(() => redis[Symbol.asyncDispose]())
    onTestFinished(() => nats[Symbol.asyncDispose]())
    return {
      config: { redis: { url: redis.url }, nats: { servers: nats.url }, apq: true },
      failOver: () => nats.restart(),
    }
  },
  async 'nowhere, but NATS'() {
    const nats = await startNats()
    onTestFinished(() => nats[Symbol.asyncDispose]())
    return { config: { nats: { servers: [nats.url] } }, failOver: () => nats.restart() }
  },
  async 'nowhere, but NATS over TLS'(folder) {
    const nats = await startNats({ tlsNames: 'DNS:localhost' })
    onTestFinished(() => nats[Symbol.asyncDispose]())
    writeFileSync(join(folder, 'ca.pem'), nats.ca)
    return {
      config: { nats: { servers: nats.url, tls: { ca: 'ca.pem' } } },
      failOver: () => nats.restart(),
    }
  },
}

const names = { current: 'Ada' }

async function open(topology: Topology['config'], baseDirectory: string): Promise<string> {
  const config: GatewayConfig = {
    ...topology,
    responseCache: true,
    rateLimit: { rules: [{ max: 1_000, windowSeconds: 60 }] },
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
  return (await startGateway(config, { baseDirectory })).endpoint
}

async function ask(url: string, query: string): Promise<{ name: string; cache: string | null }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { data } = (await answer.json()) as { data: Record<string, { name: string }> }
  return { name: Object.values(data)[0]?.name ?? '', cache: answer.headers.get('x-cache') }
}

const USER = '{ user { id name } }'

describe.each(Object.entries(topologies))('gateways with Redis %s', (_name, start) => {
  it('share answers, and none is older than the last mutation on either', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vinyasa-redis-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { config, failOver } = await start(folder)
    const [a, b] = [await open(config, folder), await open(config, folder)]
    const shares = (): Promise<unknown> =>
      waitUntil(
        async () => {
          await ask(a, USER)
          return (await ask(b, USER)).cache === 'HIT'
        },
        { timeoutMs: 30_000 },
      )
    await shares()
    for (const name of ['Grace', 'Barbara']) {
      await ask(a, `mutation { rename(name: "${name}") { id name } }`)
      expect((await ask(a, USER)).name).toBe(name)
      await waitUntil(async () => (await ask(b, USER)).name === name, { timeoutMs: 5_000 })
    }
    if (!failOver) return
    await failOver()
    await ask(b, 'mutation { rename(name: "Margaret") { id name } }')
    await waitUntil(async () => (await ask(a, USER)).name === 'Margaret', { timeoutMs: 30_000 })
    await shares()
  })
})
