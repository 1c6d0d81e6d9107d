import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeWithRedis, startNetwork, startRedis, waitUntil } from '@vinyasa/test-kit'
import type { ConnectRedis } from '@vinyasa/invalidation/redis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAccess } from '../src/access/access.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { ConfigError } from '../src/errors.ts'
import { createLogger } from '../src/logging/logger.ts'
import { openRedis } from '../src/redis/open-redis.ts'
import { configuredRedis } from '../src/redis/servers.ts'

type Redis = Pick<GatewayConfig, 'redis' | 'redisUrl'>

describe('the Redis of a config', () => {
  it.each<[string, Redis, string]>([
    [
      'two settings',
      { redisUrl: 'redis://a', redis: { url: 'redis://b' } },
      'redisUrl: the setting redis is also set; remove redisUrl or redis',
    ],
    [
      'no address',
      { redisUrl: 'localhost:6379' },
      'redisUrl: not a valid Redis URL; expected redis://host:6379',
    ],
    ['another protocol', { redis: { url: 'http://a' } }, 'redis.url: not a valid Redis URL'],
    ...['u:p@a', 'u:p@x@a', '@a', 'u:p/@a'].map((address): [string, Redis, string] => [
      `the node "${address}"`,
      { redis: { sentinels: ['b', address], name: 'shop' } },
      'redis.sentinels: the address of the server "a" contains credentials; use host:port, and set the credentials with their own options',
    ]),
    ...['redis://a:6379', 'a/1', '', 'a:b', '::1'].map((address): [string, Redis, string] => [
      `the node "${address}"`,
      { redis: { cluster: ['b:6379', address] } },
      `redis.cluster: "${address}" is not a valid server address; expected host:port`,
    ]),
    [
      'a sentinel that is none',
      { redis: { sentinels: ['a:99999'], name: 'shop' } },
      'redis.sentinels: "a:99999" is not a valid server address',
    ],
    [
      'a certificate that is not there',
      { redis: { url: 'rediss://a', tls: { ca: 'nobody.pem' } } },
      'redis.tls.ca: cannot read "nobody.pem" (ENOENT: no such file or directory, open \'/nowhere/nobody.pem\'); expected the path of a PEM file, relative to the config, or PEM text',
    ],
  ])('%s: an error that says so', async (_what, config, message) => {
    const opening = configuredRedis(config, '/nowhere')
    await expect(opening).rejects.toThrow(message)
    await expect(opening).rejects.toBeInstanceOf(ConfigError)
  })

  it('tells people nothing of a URL but its host', async () => {
    const configured = await configuredRedis({ redisUrl: 'redis://me:secret@a:1/2' }, '/nowhere')
    expect(configured?.address).toBe('a:1')
  })

  it('hands over what it is told', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vinyasa-redis-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const ca = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
    writeFileSync(join(folder, 'ca.pem'), ca)
    const redis = { password: 'secret', username: 'me', tls: { ca: 'ca.pem', serverName: 'redis' } }
    for (const [config, address] of [
      [{ url: 'rediss://a:1', db: 2 }, 'a:1'],
      [{ sentinels: ['a', '[::1]:2'], name: 'shop', db: 2 }, 'a, [::1]:2'],
      [{ cluster: ['a', '[::1]:2'] }, 'a, [::1]:2'],
    ] as const) {
      const configured = await configuredRedis({ redis: { ...redis, ...config } }, folder)
      expect(configured?.address).toBe(address)
      const client = configured?.connect({ lazyConnect: true }, 'subscriber')
      onTestFinished(() => client?.disconnect())
      expect(client?.options).toMatchObject({
        username: 'me',
        password: 'secret',
        tls: { ca, servername: 'redis' },
      })
    }
  })
})

it.each([
  ['nothing that is shared', {}, 0],
  ['documents by hash', { apq: true }, 1],
  ['a rate limit', { rateLimit: { rules: [{ max: 5, windowSeconds: 60 }] } }, 1],
])('%s: as many connections beside those of the bus as are needed', async (_what, config, connections) => {
  const configured = await configuredRedis({ redisUrl: 'redis://127.0.0.1:1' }, '/')
  const connect = vi.fn<ConnectRedis>((options, role) =>
    configured!.connect({ ...options, lazyConnect: true }, role),
  )
  const redis = { ...configured!, connect }
  const access = await createAccess(config, {
    logger: await createLogger({ level: 'silent' }),
    baseDirectory: '/',
    redis,
  })
  access.close()
  expect(connect).toHaveBeenCalledTimes(connections)
})

describeWithRedis('a connection that requests share', () => {
  it('is made anew when its other end is gone without a word', async () => {
    await using redis = await startRedis()
    await using network = await startNetwork(redis.port)
    const configured = await configuredRedis({ redisUrl: `redis://127.0.0.1:${network.port}` }, '/')
    const outage = { failed: () => {}, worked: () => {} }
    const { client } = openRedis(configured!.connect, outage)
    onTestFinished(() => client.disconnect())
    const answers = async (): Promise<boolean> => (await client.exists('a')) === 0
    await waitUntil(answers)
    network.halfOpen()
    await expect(answers()).rejects.toThrow('Command timed out')
    await waitUntil(answers)
  })
})
