import { createDisposables, describeWithRedis, startRedis, startRestBackend } from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

const CHANNELS = ['vinyasa:invalidation', '{vinyasa:cache}:invalidations']
/** Lines that one kind of failure may log in the few seconds of a row. */
const LINES = 4

describeWithRedis('a Redis that others write to', () => {
  const disposables = createDisposables(afterAll)
  let client: Redis
  let gateway: RunningGateway

  beforeAll(async () => {
    const redis = disposables.use(await startRedis())
    client = new Redis(redis.url)
    disposables.use({ close: () => client.disconnect() })
    const backend = disposables.use(await startRestBackend(async () => ({ json: { id: '1' } })))
    const endpoints = [
      { name: 'thing', path: '/thing', responseSchema: { typeName: 'Thing', fields: { id: 'id!' } } },
    ]
    const config = {
      preset: 'production',
      log: { format: 'json' },
      redisUrl: redis.url,
      responseCache: true,
      rateLimit: { rules: [{ max: 1_000_000, windowSeconds: 60 }] },
      rest: { api: { baseUrl: backend.url, endpoints } },
    }
    gateway = disposables.use(await startGateway({ config }))
  })

  const ask = async (): Promise<boolean> => (await gateway.query('{ thing { id } }')).data?.thing?.id === '1'

  /** Returns how many warnings and errors the gateway logged meanwhile. */
  async function linesDuring(fault: string, run: () => Promise<void>): Promise<number> {
    const before = gateway.process.lines.length
    await run()
    const lines = gateway.process.lines
      .slice(before)
      .filter((line) => /"level":"?(?:error|warn|50|40)/.test(line))
    recordFigure({
      area: 'brokers',
      fault,
      asked: `at most ${LINES} lines`,
      seen: `${lines.length} lines logged`,
    })
    return lines.length
  }

  it.each([
    ['1 MB of [', 1_000_000, 20],
    ['250 kB of [', 250_000, 100],
    ['an empty message', 0, 500],
  ])(
    '%s in each message of both channels: others are answered, and the log stays short',
    async (name, length, perSecond) => {
      const message = '['.repeat(length)
      const lines = await linesDuring(name, () =>
        besideNeighbours(
          { ask, pid: gateway.process.pid },
          {
            area: 'brokers',
            fault: `${name}, ${perSecond} a second`,
            async run(signal) {
              while (!signal.aborted) {
                await Promise.all(CHANNELS.map((channel) => client.publish(channel, message)))
                await sleep(1_000 / perSecond)
              }
            },
          },
        ),
      )
      expect(lines).toBeLessThanOrEqual(LINES)
    },
    NEIGHBOURS_TIMEOUT_MS,
  )

  it('overwritten counters and cache keys: the log stays short', async () => {
    await ask()
    const lines = await linesDuring('overwritten keys', async () => {
      for (let round = 0; round < 50; round++) {
        for (const key of await client.keys('*')) await client.set(key, 'garbage')
        for (let count = 0; count < 4; count++) expect(await ask()).toBe(true)
      }
    })
    expect(lines).toBeLessThanOrEqual(LINES)
  }, 60_000)
})
