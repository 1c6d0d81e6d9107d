import { setMaxListeners } from 'node:events'
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
      config: fileURLToPath(new URL('attacks/expensive.config.ts', import.meta.url)),
      gatewayArgs: ['--preset', 'production'],
    }),
  )
  others = await meetOthers(demo.url)
})

interface Attack {
  readonly query: string
  /** Requests of the client at once. */
  readonly atOnce: number
  /** Whether it reads the responses. */
  readonly reads: boolean
}

/** Sends the query of another client than the others. Resolves when the response ends, or with the attack. */
function send({ query, reads }: Attack, agent: Agent, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ query })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve) => {
    const sent = request(
      `${demo.url}/graphql`,
      { method: 'POST', headers, agent, signal, localAddress: '127.0.0.2' },
      (response) => void (reads ? response.resume() : response.pause()).once('close', () => resolve()),
    )
    sent.once('error', () => resolve()).end(body)
  })
}

const user = (fields: string): string => `{ user(id: "1") { ${fields} } }`

it.each([
  ['a matrix of matrices of 100 x 100 objects', 'matrix(n: 100) { matrix(n: 100) { id } }', 1, true],
  ['a matrix of 1,000 x 1,000 numbers', 'numbers(n: 1000)', 1, true],
  ['60 matrices of 100 x 100 objects at once', 'matrix(n: 100) { id }', 60, true],
  ['300 large responses of one client that are not read', 'matrix(n: 100) { id }', 300, false],
] as const)(
  '%s: others are answered as before',
  async (fault, fields, atOnce, reads) => {
    const attack: Attack = { query: user(fields), atOnce, reads }
    const agent = new Agent({ keepAlive: true })
    await besideNeighbours(
      { ask: others.ask, pid: demo.gateway.pid },
      {
        area: 'turns',
        fault,
        async run(signal) {
          setMaxListeners(0, signal)
          const again = async (): Promise<void> => {
            while (!signal.aborted) await send(attack, agent, signal)
          }
          await Promise.all(Array.from({ length: atOnce }, again))
        },
      },
    ).finally(() => agent.destroy())
    expect(demo.gateway.isRunning()).toBe(true)
  },
  NEIGHBOURS_TIMEOUT_MS,
)

it('answers or refuses each query', async () => {
  const ask = (fields: string): ReturnType<RunningDemo['query']> => demo.query(user(fields))
  const matrix = await ask('matrix(n: 100) { id }')
  expect(matrix.data.user.matrix[99][99]).toEqual({ id: '99.99' })
  const numbers = await ask('numbers(n: 1000)')
  expect(numbers.data.user.numbers[999]).toEqual(Array.from({ length: 1_000 }, (_, column) => column))
  for (const fields of ['numbers(n: 2000)', 'matrix(n: 100) { matrix(n: 100) { id } }']) {
    const { status, errors } = await ask(fields)
    expect([status, errors[0]?.extensions.code]).toEqual([400, 'RESPONSE_TOO_LARGE'])
  }
}, 120_000)
