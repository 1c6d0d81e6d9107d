import { request as httpRequest, Agent } from 'node:http'
import {
  connectRawWebSocket,
  createDisposables,
  freePort,
  type RestBackend,
  startRestBackend,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postGraphQL } from '../e2e/support/demo.ts'
import { ms, recordFigure } from './support/figures.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

const disposables = createDisposables(afterAll)
let backend: RestBackend

beforeAll(async () => {
  backend = disposables.use(await startRestBackend(() => ({ delayMs: 20, json: { ok: true } })))
})

const config = () => ({
  rest: {
    api: {
      baseUrl: backend.url,
      endpoints: [{ name: 'thing', path: '/things/{id}', args: { id: 'ID!' }, liveQuery: { enabled: true } }],
    },
  },
})

const start = (args: readonly string[] = []): Promise<RunningGateway> =>
  startGateway({ config: config(), args })

describe('SIGTERM', () => {
  it('idle, with a keep-alive connection and a WebSocket open: sockets closed 1001, exit within 500 ms', async () => {
    const gateway = createDisposables(onTestFinished).use(await start())
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    await new Promise<void>((resolve, reject) => {
      const request = httpRequest(`${gateway.url}/health/live`, { agent }, (response) => {
        response.resume().once('end', resolve)
      })
      request.once('error', reject).end()
    })
    const socket = await connectRawWebSocket(`${gateway.url}/graphql/live`)
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: 'query @live { thing(id: "1") }' } })
    await socket.nextJson()

    // Idle: the last request is over, and not only just.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const at = performance.now()
    const exit = await gateway.process.kill('SIGTERM')
    const took = performance.now() - at
    recordFigure({
      area: 'process',
      fault: 'SIGTERM, idle, a keep-alive connection and a live subscription open',
      asked: 'exit in 500 ms, WebSockets closed 1001',
      seen: `exit ${exit.code} after ${ms(took)}, close ${(await socket.closed).code}`,
    })
    expect(exit).toEqual({ code: 0, signal: null })
    expect((await socket.closed).code).toBe(1001)
    expect(took).toBeLessThan(1_500)
  })

  it('a request in flight is answered', async () => {
    const gateway = createDisposables(onTestFinished).use(await start())
    const arrived = backend.requests.length
    const answer = gateway.query('{ thing(id: "slow") }')
    await expect.poll(() => backend.requests.length).toBe(arrived + 1)
    gateway.process.signal('SIGTERM')
    expect(await answer).toMatchObject({ status: 200, data: { thing: { ok: true } }, errors: [] })
    expect(await gateway.process.exited).toEqual({ code: 0, signal: null })
  })

  it('under load: 1,000 requests through a rolling restart, none fails', async () => {
    const disposables = createDisposables(onTestFinished)
    const ports = [await freePort(), await freePort()]
    const startOn = async (index: number): Promise<RunningGateway> =>
      disposables.use(await start(['--port', String(ports[index])]))
    const gateways = [await startOn(0), await startOn(1)]
    const urls = gateways.map(({ url }) => `${url}/graphql`)

    const rolled = new AbortController()
    let sent = 0
    let refused = 0
    const failures: unknown[] = []

    // What a load balancer does: looks at readiness now and then, sends in turn to those that are ready, and to the
    // other when a connection is refused before anything was sent.
    const ready = [true, true]
    const probes = [0, 1].map(async (index) => {
      while (!rolled.signal.aborted) {
        ready[index] = await fetch(`${new URL(urls[index]!).origin}/health/ready`).then(
          ({ ok }) => ok,
          () => false,
        )
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })
    async function send(turn: number): Promise<void> {
      const first = ready[turn] ? turn : 1 - turn
      for (const index of [first, 1 - first, first, 1 - first]) {
        try {
          const answer = await postGraphQL(urls[index]!, `{ thing(id: "${sent}") }`)
          if (answer.status !== 200 || answer.errors.length > 0) failures.push(answer)
          return
        } catch (error) {
          const { code, syscall } = (error as { cause?: NodeJS.ErrnoException }).cause ?? {}
          if (code !== 'ECONNREFUSED' && syscall !== 'connect') {
            failures.push(error)
            return
          }
          refused++
        }
      }
      failures.push(new Error('Refused by both'))
    }

    const clients = Array.from({ length: 20 }, async (_, client) => {
      for (let turn = client; !rolled.signal.aborted || sent < 1_000; turn++) {
        sent++
        await send(turn % 2)
      }
    })
    for (const index of [0, 1]) {
      await gateways[index]!.process.kill('SIGTERM', 15_000)
      gateways[index] = await startOn(index)
    }
    rolled.abort()
    await Promise.all([...clients, ...probes])
    recordFigure({
      area: 'process',
      fault: 'SIGTERM under load, a rolling restart of two gateways',
      asked: '1,000 requests, 0 failed',
      seen: `${sent} requests, ${failures.length} failed (${refused} connections refused and sent to the other)`,
    })
    expect(failures).toEqual([])
    expect(sent).toBeGreaterThanOrEqual(1_000)
  })
})

describe('reloading', () => {
  it('50 reloads under load, 10 of them broken: none of the requests fails', async () => {
    const gateway = createDisposables(onTestFinished).use(await start())
    const reloaded = new AbortController()
    let sent = 0
    const failures: unknown[] = []
    const clients = Array.from({ length: 10 }, async () => {
      while (!reloaded.signal.aborted) {
        sent++
        const answer = await gateway.query(`{ thing(id: "${sent}") }`).catch((error: unknown) => ({ error }))
        if (!('status' in answer) || answer.status !== 200 || answer.errors.length > 0) failures.push(answer)
      }
    })
    const seen = (pattern: RegExp): number =>
      gateway.process.lines.filter((line) => pattern.test(line)).length
    for (let reload = 1; reload <= 50; reload++) {
      const broken = reload % 5 === 0
      gateway.writeConfig(broken ? '{ "rest": { "api": { "baseUrl": 5' : config())
      const pattern = broken ? /reload failed/ : /reloaded/
      const before = seen(pattern)
      gateway.process.signal('SIGHUP')
      await expect.poll(() => seen(pattern), { timeout: 10_000 }).toBe(before + 1)
    }
    reloaded.abort()
    await Promise.all(clients)
    recordFigure({
      area: 'process',
      fault: '50 hot reloads under load, 10 of them broken',
      asked: '0 failed requests',
      seen: `${sent} requests, ${failures.length} failed`,
    })
    expect(failures).toEqual([])
    expect([seen(/reloaded/), seen(/reload failed/)]).toEqual([40, 10])
  })
})
