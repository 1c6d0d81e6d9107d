import { hash } from 'node:crypto'
import type { BrokerBus, BrokerBusOptions } from '@vinyasa/invalidation'
import type { BrokerSections, NatsConfig, RedisSections } from '../redis/broker-types.ts'
import { mistakeAt } from '../errors.ts'
import type { ConfiguredRedis } from '../redis/servers.ts'
import { readPemTexts } from '../texts/pem-texts.ts'

/** Settings have passwords in them. */
function digest(settings: unknown): string {
  return hash('sha256', JSON.stringify(settings))
}

/** The service that carries changes between gateways. */
export interface Broker {
  readonly kind: 'redis' | 'nats'
  /** For people, without a password. */
  readonly address: string
  /** The setting that names it. */
  readonly setting: readonly string[]
  /** Tells one broker, and whom it is told to be, from others. */
  readonly identity: string
  open(options: BrokerBusOptions): Promise<BrokerBus>
}

/** NATS, where the config names it; else its Redis; undefined without either. */
export async function configuredBroker(
  { nats, redisUrl, redis: settings }: BrokerSections & RedisSections,
  redis: ConfiguredRedis | undefined,
  baseDirectory: string,
): Promise<Broker | undefined> {
  if (nats !== undefined) return overNats(nats, baseDirectory)
  if (!redis) return undefined
  const { connect, address, setting } = redis
  return {
    kind: 'redis',
    address,
    setting,
    identity: digest([redisUrl, settings]),
    async open(options) {
      const { createRedisInvalidationBus } = await import('@vinyasa/invalidation/redis')
      return createRedisInvalidationBus({ ...options, connect })
    },
  }
}

async function overNats(nats: NatsConfig, baseDirectory: string): Promise<Broker> {
  const { servers: given, user, password, token, tls } = nats
  const servers = [given].flat()
  for (const [index, server] of servers.entries()) {
    const url = URL.canParse(server) ? new URL(server) : undefined
    if (!url || !/^(?:nats|tls):$/.test(url.protocol) || url.hostname === '' || url.username !== '')
      throw mistakeAt(
        typeof given === 'string' ? ['nats', 'servers'] : ['nats', 'servers', index],
        'not a valid server address; expected nats://host:4222 or tls://host:4222, with the credentials in the settings user and password, or token',
      )
  }
  const secured = tls
    ? { tls: tls === true ? {} : await readPemTexts(['nats', 'tls'], tls, baseDirectory) }
    : {}
  const login = { user, pass: password, token }
  return {
    kind: 'nats',
    address: servers.map((server) => new URL(server).host).join(', '),
    setting: ['nats', 'servers'],
    identity: digest(nats),
    async open(options) {
      const { createNatsInvalidationBus } = await import('@vinyasa/invalidation/nats')
      const known = Object.entries(login).filter(([, value]) => value !== undefined)
      return createNatsInvalidationBus({
        ...options,
        servers,
        nats: { ...Object.fromEntries(known), ...secured },
      })
    },
  }
}
