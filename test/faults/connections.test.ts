import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDisposables, spawnProcess, startNetwork, waitUntil, temporaryFolder } from '@vinyasa/test-kit'
import { afterAll, expect, it } from 'vitest'
import { repository } from '../e2e/support/demo.ts'
import { recordFigure } from './support/figures.ts'
import { startGateway } from './support/gateway.ts'

const disposables = createDisposables(afterAll)
/** Each way, as between regions. */
const NETWORK_MS = 40
const CONNECTIONS = 40

interface Answer {
  readonly status: number | undefined
  readonly connection: string | undefined
}

/** A request as a balancer sends it: on a connection that it has kept, without sending it again. */
function ask(port: number, agent: Agent): Promise<Answer> {
  const body = JSON.stringify({ query: 'mutation { change }' })
  return new Promise((resolve, reject) => {
    request(
      { port, host: '127.0.0.1', path: '/graphql', method: 'POST', agent, headers: JSON_BODY },
      (response) => {
        response.resume()
        response.once('error', reject)
        response.once('end', () =>
          resolve({ status: response.statusCode, connection: response.headers.connection }),
        )
      },
    )
      .once('error', reject)
      .end(body)
  })
}

const JSON_BODY = { 'content-type': 'application/json' }
const OWN = { typeDefs: 'type Query { hello: String } type Mutation { change: Boolean }' }

/** A balancer's connections, which takes no note of what the other end says of its time. */
function keptConnections(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' })
  agent.on('free', (socket: Socket) => socket.setTimeout(0))
  disposables.use({ [Symbol.asyncDispose]: async () => agent.destroy() })
  return agent
}

it.each([
  ['the time that the gateway keeps them', 1_000],
  ['a little less', 940],
])(
  'behind a network of 40 ms, connections that are used again after %s lose no request',
  async (_, idleMs) => {
    const gateway = disposables.use(
      await startGateway({ untilReady: false, config: { ...OWN, server: { keepAliveTimeoutMs: 1_000 } } }),
    )
    const network = disposables.use(
      await startNetwork(Number(new URL(gateway.url).port), { delayMs: NETWORK_MS }),
    )
    const agent = keptConnections()
    const outcomes: PromiseSettledResult<Answer>[] = []
    for (let round = 0; round < 4; round++) {
      outcomes.push(
        ...(await Promise.allSettled(
          Array.from({ length: CONNECTIONS }, async (_, at) => {
            // Around the moment, each a little later than the one before.
            await sleep(at * 3)
            return ask(network.port, agent)
          }),
        )),
      )
      await sleep(idleMs - CONNECTIONS * 3)
    }
    const lost = outcomes.filter(({ status }) => status === 'rejected')
    recordFigure({
      area: 'connections',
      fault: `${outcomes.length} requests on connections idle for ${idleMs} of 1,000 ms, ${NETWORK_MS} ms of network`,
      asked: '0 lost',
      seen: `${lost.length} lost`,
    })
    expect(lost).toEqual([])
  },
)

it('while a gateway stops, requests through a network of 40 ms are answered, and told to close', async () => {
  const gateway = disposables.use(
    await startGateway({ untilReady: false, config: { ...OWN, server: { keepAliveTimeoutMs: 5_000 } } }),
  )
  const network = disposables.use(
    await startNetwork(Number(new URL(gateway.url).port), { delayMs: NETWORK_MS }),
  )
  const agent = keptConnections()
  await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(network.port, agent)))
  const ended = gateway.process.kill('SIGTERM', 30_000)
  await sleep(NETWORK_MS)
  // The balancer hears of it half a second late.
  const answers: Answer[] = []
  for (let round = 0; round < 5; round++) {
    answers.push(...(await Promise.all(Array.from({ length: 10 }, () => ask(network.port, agent)))))
    await sleep(50)
  }
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ connection }) => connection))).toEqual(new Set(['close']))
  await ended
})

it('400 idle connections where 256 files may be open: others are answered, and it is logged', async () => {
  const file = join(await temporaryFolder('files'), 'gateway.config.json')
  writeFileSync(file, JSON.stringify(OWN))
  const main = repository('apps/gateway/dist/main.js')
  const command = `ulimit -n 256 && exec "${process.execPath}" "${main}" start --preset production --config "${file}" --port 0`
  const gateway = disposables.use(
    await spawnProcess({ command: 'sh', args: ['-c', command], ready: /http:\/\/[^\s"]+:(\d+)\/graphql/ }),
  )
  const port = Number(gateway.ready?.[1])
  const idle: Socket[] = []
  disposables.use({
    async [Symbol.asyncDispose]() {
      for (const socket of idle) socket.destroy()
    },
  })
  let answered = 0
  for (const localAddress of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
    for (let count = 0; count < 100; count++) {
      const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
      idle.push(socket)
      await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    }
    const agent = new Agent()
    for (let times = 0; times < 5; times++)
      if ((await ask(port, agent).catch(() => undefined))?.status === 200) answered++
  }
  recordFigure({
    area: 'connections',
    fault: '400 idle connections, ulimit -n 256',
    asked: 'others are answered, logged',
    seen: `${answered} of 20`,
  })
  expect(answered).toBe(20)
  await waitUntil(
    () =>
      gateway.lines.filter((line) => line.includes('connections were refused, or closed while idle'))
        .length === 1,
  )
})
