import { type Network, startNats, startNetwork, startRedis } from '@vinyasa/test-kit'
import { valueOf } from './draw-row.ts'
import type { Feature, Row, Surroundings } from './feature.ts'

type Addresses = Pick<Surroundings, 'redisUrl' | 'natsUrl'>

/** What carries changes between gateways, and the ways to it. */
export interface Servers {
  readonly first: Addresses
  /** As a second gateway reaches them. Undefined: there is none. */
  readonly second: Addresses | undefined
  /** Between the first one and them, where there is a second. */
  readonly networks: readonly Network[]
  [Symbol.asyncDispose](): Promise<void>
}

export async function startServers(features: readonly Feature[], row: Row): Promise<Servers> {
  const needs = new Set(features.flatMap((feature) => valueOf(feature, row).needs ?? []))
  const redis = needs.has('redis') ? await startRedis() : undefined
  const nats = needs.has('nats') ? await startNats() : undefined
  const isTwo = (row['gateways'] ?? '1') !== '1'
  const networks = isTwo
    ? await Promise.all([redis, nats].map((server) => server && startNetwork(server.port)))
    : []
  const direct: Addresses = { redisUrl: redis?.url ?? '', natsUrl: nats?.url ?? '' }
  const [toRedis, toNats] = networks
  const through: Addresses = {
    redisUrl: toRedis ? `redis://127.0.0.1:${toRedis.port}` : '',
    natsUrl: toNats ? `nats://127.0.0.1:${toNats.port}` : '',
  }
  const opened = networks.filter((network) => network !== undefined)
  return {
    first: isTwo ? through : direct,
    second: isTwo ? direct : undefined,
    networks: opened,
    async [Symbol.asyncDispose]() {
      await Promise.all([...opened, redis, nats].map((one) => one?.[Symbol.asyncDispose]()))
    },
  }
}
