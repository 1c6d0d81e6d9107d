import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  describeWithRedis,
  spawnProcess,
  startRedis,
  startRestBackend,
  waitUntil,
  temporaryFolder,
} from '@vinyasa/test-kit'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

describeWithRedis('a gateway on Redis that is told to end', () => {
  it('announces what it is not sure of, then says goodbye, and then ends', { timeout: 120_000 }, async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const backend = await startRestBackend(() => new Promise(() => {}))
    onTestFinished(() => backend.stop())
    const responseSchema = { typeName: 'Thing', fields: { id: 'id', name: 'string' } }
    const config = {
      log: { format: 'json' },
      redisUrl: redis.url,
      rest: {
        things: {
          baseUrl: backend.url,
          totalTimeoutMs: 300,
          endpoints: [
            { name: 'thing', path: '/things/1', responseSchema },
            { name: 'renameThing', method: 'PUT', path: '/things/1', responseSchema },
          ],
        },
      },
    }
    const file = join(await temporaryFolder('goodbye'), 'gateway.config.json')
    await writeFile(file, JSON.stringify(config))
    const heard: { n: number; events: { entityType: string }[]; isGoodbye?: boolean }[] = []
    const listener = new Redis(redis.url)
    onTestFinished(() => listener.disconnect())
    await listener.subscribe('vinyasa:invalidation')
    listener.on('message', (_channel, message) => heard.push(JSON.parse(message) as (typeof heard)[number]))
    const gateway = await spawnProcess({
      command: process.execPath,
      args: [MAIN, 'start', '--config', file, '--port', '0'],
      ready: /"url":"(http:[^"]+)\/graphql".*"msg":"gateway ready"/,
      readyTimeoutMs: 60_000,
    })
    onTestFinished(() => gateway[Symbol.asyncDispose]())
    // Cut off: it is announced at once, and would be again within half a minute.
    await fetch(`${gateway.ready?.[1]}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'mutation { renameThing { id } }' }),
    }).then((response) => response.text())
    const announced = (): number => heard.filter(({ events }) => events.length > 0).length
    await waitUntil(() => announced() > 0, { awaited: 'the announcement' })
    await gateway.kill('SIGTERM', 30_000)
    await waitUntil(() => heard.at(-1)?.isGoodbye === true, { awaited: 'the goodbye' })
    expect(announced()).toBeGreaterThan(1)
    expect(heard.filter(({ isGoodbye }) => isGoodbye)).toHaveLength(1)
    // Nothing was lost on the way: the goodbye's count is that of the last announcement.
    expect(heard.at(-1)?.n).toBe(heard.findLast(({ events }) => events.length > 0)?.n)
  })
})
