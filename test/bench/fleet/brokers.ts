import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startNats, startRedis, startRedisCluster } from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { usageOf } from '../src/process-usage.ts'

export const BROKERS = ['redis', 'cluster', 'nats'] as const
export type BrokerName = (typeof BROKERS)[number]

/** What a broker has done since it began. */
export interface BrokerCounts {
  /** Messages that gateways published. */
  readonly published: number
  /** Messages that gateways were given; undefined where the broker does not count them. */
  readonly delivered: number | undefined
  /** In and out. Redis counts its protocol too, and the cache's commands; NATS counts what messages hold. */
  readonly bytes: number
  /** Messages that a cluster's nodes passed on to each other. */
  readonly passedOn: number
  /** Of all its processes. */
  readonly cpuMs: number
}

export interface RunningBroker {
  /** What the gateway's config reads. */
  readonly env: Readonly<Record<string, string>>
  counts(): Promise<BrokerCounts>
  /** Where deliveries are not counted: listens, and tells by the returned function which share of messages was for one gateway alone. */
  readonly follow?: () => Promise<() => number>
  [Symbol.asyncDispose](): Promise<void>
}

export function startBroker(name: BrokerName): Promise<RunningBroker> {
  switch (name) {
    case 'redis':
      return overRedis()
    case 'cluster':
      return overCluster()
    case 'nats':
      return overNats()
  }
}

async function overRedis(): Promise<RunningBroker> {
  const server = await startRedis()
  const broker = await observe([server.url])
  return {
    env: { FLEET_REDIS: server.url },
    counts: broker.counts,
    follow: () => followShares(server.url),
    async [Symbol.asyncDispose]() {
      broker.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function overCluster(): Promise<RunningBroker> {
  const cluster = await startRedisCluster({ replicas: 0 })
  const broker = await observe(cluster.nodes.map((node) => `redis://${node}`))
  return {
    env: { FLEET_CLUSTER: cluster.nodes.join(' ') },
    counts: broker.counts,
    follow: () => followShares(`redis://${cluster.nodes[0]}`),
    async [Symbol.asyncDispose]() {
      broker.close()
      await cluster[Symbol.asyncDispose]()
    },
  }
}

/** Reads the counters of servers of Redis. */
async function observe(urls: readonly string[]): Promise<{ counts(): Promise<BrokerCounts>; close(): void }> {
  const nodes = await Promise.all(
    urls.map(async (url) => {
      const client = new Redis(url)
      return { client, pid: figureIn(await client.info('server'), 'process_id:') }
    }),
  )
  const countsOf = async ({ client, pid }: (typeof nodes)[number]): Promise<BrokerCounts> => {
    const { cpuMs } = usageOf(pid)
    const [stats, commands] = [await client.info('stats'), await client.info('commandstats')]
    const gossip = urls.length === 1 ? '' : String(await client.call('CLUSTER', 'INFO'))
    return {
      published: figureIn(commands, 'cmdstat_publish:calls='),
      delivered: undefined,
      bytes: figureIn(stats, 'total_net_input_bytes:') + figureIn(stats, 'total_net_output_bytes:'),
      passedOn: figureIn(gossip, 'cluster_stats_messages_publish_sent:'),
      cpuMs,
    }
  }
  return {
    counts: async () => (await Promise.all(nodes.map(countsOf))).reduce(sum),
    close() {
      for (const { client } of nodes) client.disconnect()
    },
  }
}

/** Heartbeats aside, which are for all. */
async function followShares(url: string): Promise<() => number> {
  const client = new Redis(url)
  const heard = { all: 0, one: 0 }
  client.on('pmessage', (_pattern, channel: string, text: string) => {
    if (channel.startsWith('vinyasa:invalidation.')) heard.one++
    else if (channel !== 'vinyasa:invalidation' || !text.includes('"events":[]')) heard.all++
  })
  await client.psubscribe('*')
  return () => {
    client.disconnect()
    return heard.one / (heard.one + heard.all)
  }
}

async function overNats(): Promise<RunningBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-fleet-'))
  const pidFile = join(folder, 'pid')
  const monitor = `127.0.0.1:${await freePort()}`
  const server = await startNats({ config: `http: "${monitor}"\npid_file: "${pidFile}"` })
  return {
    env: { FLEET_NATS: server.url },
    async counts() {
      const { cpuMs } = usageOf(Number(readFileSync(pidFile, 'utf8')))
      const seen = (await (await fetch(`http://${monitor}/varz`)).json()) as Record<string, number>
      const { in_msgs: published = 0, out_msgs: delivered = 0, in_bytes: into = 0, out_bytes: out = 0 } = seen
      return { published, delivered, bytes: into + out, passedOn: 0, cpuMs }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function figureIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}(\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

function sum(a: BrokerCounts, b: BrokerCounts): BrokerCounts {
  return {
    published: a.published + b.published,
    delivered: undefined,
    bytes: a.bytes + b.bytes,
    passedOn: a.passedOn + b.passedOn,
    cpuMs: a.cpuMs + b.cpuMs,
  }
}
