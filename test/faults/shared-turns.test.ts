import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDemo, type RunningDemo } from '../e2e/support/demo.ts'
import { meetOthers, type Others } from './attacks/others.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

const disposables = createDisposables(afterAll)
let demo: RunningDemo
let others: Others

beforeAll(async () => {
  demo = disposables.use(
    await startDemo({
      config: fileURLToPath(new URL('attacks/work.config.ts', import.meta.url)),
      gatewayArgs: ['--preset', 'production'],
    }),
  )
  others = await meetOthers(demo.url)
})

const LARGE = `query ($limit: Int!) { ${Array.from({ length: 28 }, (_, n) => `a${n}: users(limit: $limit) { users { id name email status } }`).join(' ')} }`

let n = 0
function send(query: string, agent: Agent, signal: AbortSignal, isRead: boolean): Promise<void> {
  const body = JSON.stringify({ query, variables: { limit: 100 - (n++ % 40) } })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve) => {
    const sent = request(
      `${demo.url}/graphql`,
      { method: 'POST', headers, agent, signal, localAddress: '127.0.0.2' },
      (response) => {
        if (isRead) response.resume().once('close', () => resolve())
        else {
          response.pause()
          signal.addEventListener('abort', () => resolve(), { once: true })
        }
      },
    )
    sent.once('error', () => resolve()).end(body)
  })
}

it.each([['300 large responses of one client that are not read', LARGE, 300, false]])(
  '%s: others are answered as before',
  async (fault, query, atOnce, isRead) => {
    const agent = new Agent({ keepAlive: true })
    await besideNeighbours(
      { ask: others.ask, pid: demo.gateway.pid },
      {
        area: 'turns',
        fault,
        async run(signal) {
          const attack = async (): Promise<void> => {
            while (!signal.aborted) await send(query, agent, signal, isRead)
          }
          await Promise.all(Array.from({ length: atOnce }, attack))
        },
      },
    ).finally(() => agent.destroy())
    expect(demo.gateway.isRunning()).toBe(true)
  },
  NEIGHBOURS_TIMEOUT_MS,
)
