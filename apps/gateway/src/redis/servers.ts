import type { ConnectionOptions } from 'node:tls'
import type { ConnectRedis } from '@vinyasa/invalidation/redis'
import type { RedisConfig, RedisSections, TlsFilesConfig } from './broker-types.ts'
import { messageOf, mistakeAt } from '../errors.ts'
import { readPemTexts } from '../texts/pem-texts.ts'

/** The Redis of a config, for everything in a gateway that has connections to it. */
export interface ConfiguredRedis {
  readonly connect: ConnectRedis
  /** For people, without a password. */
  readonly address: string
  /** The setting that names it. */
  readonly setting: readonly string[]
}

/** Undefined where there is none. Throws `ConfigError` for what is no address, and files that cannot be read. */
export async function configuredRedis(
  { redisUrl, redis }: RedisSections,
  baseDirectory: string,
): Promise<ConfiguredRedis | undefined> {
  if (redis === undefined) return redisUrl === undefined ? undefined : oneServer(['redisUrl'], redisUrl, {})
  if (redisUrl !== undefined)
    throw mistakeAt(['redisUrl'], 'the setting redis is also set; remove redisUrl or redis')
  const { url, sentinels, cluster, name, tls, ...login } = redis
  const secured = tls ? { tls: tls === true ? {} : await tlsOf(tls, baseDirectory) } : {}
  if (url !== undefined) {
    const { sentinelUsername: _, sentinelPassword: __, ...own } = login
    return oneServer(['redis', 'url'], url, { ...own, ...secured })
  }
  const { connectRedis } = await import('@vinyasa/invalidation/redis')
  const { db, sentinelUsername, sentinelPassword, ...user } = login
  const addresses = sentinels ?? cluster ?? []
  try {
    const connect = sentinels
      ? connectRedis({
          ...user,
          ...secured,
          db,
          sentinelUsername,
          sentinelPassword,
          sentinels,
          name: name ?? '',
        })
      : connectRedis({ ...user, ...secured, cluster: addresses })
    return { connect, address: addresses.join(', '), setting: ['redis'] }
  } catch (error) {
    throw mistakeAt(['redis', sentinels ? 'sentinels' : 'cluster'], messageOf(error), { cause: error })
  }
}

type Login = Pick<RedisConfig, 'username' | 'password' | 'db'> & {
  readonly tls?: ConnectionOptions | undefined
}

async function oneServer(
  setting: readonly string[],
  address: string,
  login: Login,
): Promise<ConfiguredRedis> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^rediss?:$/.test(url.protocol)) {
    throw mistakeAt(setting, 'not a valid Redis URL; expected redis://host:6379 or rediss://host:6379')
  }
  const { Redis } = await import('ioredis')
  const given = Object.fromEntries(Object.entries(login).filter(([, value]) => value !== undefined))
  return {
    connect: (options) => new Redis(address, { ...options, ...given }),
    address: url.host,
    setting,
  }
}

async function tlsOf(
  { serverName, ...files }: TlsFilesConfig,
  baseDirectory: string,
): Promise<ConnectionOptions> {
  const texts = await readPemTexts(['redis', 'tls'], files, baseDirectory)
  return { ...texts, ...(serverName !== undefined && { servername: serverName }) }
}
