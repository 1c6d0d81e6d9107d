import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import {
  connectRawWebSocket,
  createDisposables,
  describeWithRedis,
  spawnProcess,
  startRedis,
  waitUntil,
  type Disposables,
  type SpawnedProcess,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const KEYS = ['a', 'b', 'c', 'd']
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Gateway {
  readonly process: SpawnedProcess
  readonly url: string
  touch(key: string): Promise<void>
}

interface LiveClient {
  readonly key: string
  value(): number
}

async function startTwoGateways(open: Disposables) {
  const truth = new Map(KEYS.map((key) => [key, 0]))
  const backend = createServer((request, response) =>
    response.end(String(truth.get(request.url!.slice(1)) ?? 0)),
  )
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  open.use(() => new Promise((resolve) => backend.close(resolve).closeAllConnections()))
  const redis = open.use(await startRedis())
  const backendUrl = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`

  async function startGateway(): Promise<Gateway> {
    const child = open.use(
      await spawnProcess({
        command: process.execPath,
        args: ['--import', 'jiti/register', 'e2e/programs/live-gateway.ts'],
        cwd: fileURLToPath(new URL('..', import.meta.url)),
        env: { REDIS_URL: redis.url, BACKEND_URL: backendUrl },
        ready: /^ready on (\d+)$/,
      }),
    )
    const url = `http://127.0.0.1:${child.ready![1]}/graphql`
    return {
      process: child,
      url,
      async touch(key) {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query: 'mutation ($key: ID!) { touch(key: $key) }', variables: { key } }),
        })
        expect(await response.json()).toEqual({ data: { touch: true } })
      },
    }
  }

  async function connect(gateway: Gateway, key: string): Promise<LiveClient> {
    const socket = open.use(await connectRawWebSocket(`${gateway.url}/live`))
    socket.sendJson({ type: 'connection_init' })
    const query = 'query ($key: ID!) @live { counter(key: $key) { value } }'
    await socket.next()
    socket.sendJson({ id: '1', type: 'subscribe', payload: { query, variables: { key } } })
    await socket.next()
    return { key, value: () => socket.frames.at(-1)!.json().payload.data?.counter?.value }
  }

  const gateways = await Promise.all([startGateway(), startGateway()])
  const clients = await Promise.all(
    gateways.flatMap((gateway) => KEYS.flatMap((key) => [1, 2, 3].map(() => connect(gateway, key)))),
  )
  let counter = 0
  return {
    redis,
    gateways,
    clients,
    async change(at = counter % 2): Promise<void> {
      counter += 1
      const key = KEYS[counter % KEYS.length]!
      truth.set(key, counter)
      await gateways[at]!.touch(key)
    },
    behind: () => clients.filter((client) => client.value() !== truth.get(client.key)).length,
  }
}

describeWithRedis('two gateways, one Redis', () => {
  const open = createDisposables(afterAll)
  let world: Awaited<ReturnType<typeof startTwoGateways>>
  beforeAll(async () => {
    world = await startTwoGateways(open)
  })

  it('an event on one updates clients on the other', async () => {
    const { change, behind, clients } = world
    for (let n = 0; n < 8; n++) await change()
    await waitUntil(() => behind() === 0, { timeoutMs: 5000, awaited: 'every client at the truth' })
    expect(clients).toHaveLength(24)
  }, 60_000)

  it('Redis killed and restarted mid-stream: after heal every client equals the truth within 5 s, no process exits, no unhandled rejection', async () => {
    const { redis, gateways, change, behind } = world
    const quiet = new AbortController()
    const stream = (async () => {
      while (!quiet.signal.aborted) {
        await change()
        await pause(15)
      }
    })()
    await pause(500)
    await redis.kill()
    await pause(1500)
    await redis.restart()
    // The last events fall into the time before the gateways are connected again.
    quiet.abort()
    await stream
    const healedAt = performance.now()
    await waitUntil(() => behind() === 0, { timeoutMs: 5000, awaited: 'every client at the truth' })
    const took = Math.round(performance.now() - healedAt)
    process.stdout.write(`every client at the truth ${took} ms after Redis was back\n`)
    for (const gateway of gateways) {
      expect(gateway.process.isRunning()).toBe(true)
      expect(gateway.process.output()).not.toMatch(/unhandled|error:/i)
      // One outage, told once.
      const told = (): string[] => gateway.process.lines.filter((line) => line.startsWith('bus '))
      await waitUntil(() => told().length === 3, {
        timeoutMs: 5000,
        awaited: 'the bus to be connected again',
      })
      expect(told()).toEqual(['bus connected', 'bus disconnected', 'bus connected'])
    }
    // And it goes on as before.
    await change(0)
    await change(1)
    await waitUntil(() => behind() === 0, { timeoutMs: 5000, awaited: 'every client at the truth' })
  }, 60_000)
})
