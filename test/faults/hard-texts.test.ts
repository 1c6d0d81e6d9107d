import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

// Texts for which functions once took the square of their length.

// A row may be repeated.
vi.setConfig({ testTimeout: NEIGHBOURS_TIMEOUT_MS })

const ATTACKERS = 8

const disposables = createDisposables(afterAll)
let gateway: RunningGateway

beforeAll(async () => {
  const backend = disposables.use(
    await startRestBackend(({ url }) => ({
      json: { name: 'Ada' },
      ...(url.pathname.startsWith('/blank') && {
        headers: { 'cache-control': `max-age=1${' '.repeat(15_000)}x` },
      }),
    })),
  )
  gateway = disposables.use(
    await startGateway({
      args: ['--preset', 'production'],
      untilReady: false,
      config: {
        rest: {
          api: {
            baseUrl: backend.url,
            cacheTtlMs: 1_000,
            endpoints: [
              { name: 'user', path: '/users/{id}', args: { id: 'String!' } },
              { name: 'sent', path: '/sent', method: 'POST', asQuery: true, args: { data: 'JSON' } },
              { name: 'blank', path: '/blank/{id}', args: { id: 'Int!' } },
            ],
          },
        },
      },
    }),
  )
})

let asked = 0
const rows: readonly (readonly [
  fault: string,
  attack: () => ReturnType<RunningGateway['query']>,
  code: string | undefined,
])[] = [
  [
    'path arguments of 120 kB of `%25`',
    () => gateway.query('query ($id: String!) { user(id: $id) }', { id: `%${'25'.repeat(60_000)}` }),
    'BAD_USER_INPUT',
  ],
  [
    'invalid documents with 300 kB of `Did you mean "`',
    // Block strings stand in messages as they are, with their quotes. Each document is validated once.
    () => gateway.query(`query Q${asked++} { blank(id: """${'Did you mean "'.repeat(20_000)}.""") }`),
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'JSON arguments of integers of 1,000,000 digits',
    () => gateway.query(`{ sent(data: ${'9'.repeat(1_000_000)}) }`),
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    '`cache-control` of a backend with 15,000 blanks',
    () => gateway.query(`{ blank(id: ${asked++}) }`),
    undefined,
  ],
]

it.each(rows)('%s: others are answered as before', async (fault, attack, code) => {
  const seen = new Set<unknown>()
  await besideNeighbours(
    {
      pid: gateway.process.pid,
      async ask() {
        const { data } = await gateway.query(`{ user(id: "${asked++}") }`)
        return data?.user?.name === 'Ada'
      },
    },
    {
      area: 'texts',
      fault,
      async run(signal) {
        const attacker = async (): Promise<void> => {
          do {
            // A gateway that is busy for long closes the connection.
            const answer = await attack().catch(() => undefined)
            seen.add(answer ? answer.errors[0]?.extensions?.code : 'no answer')
          } while (!signal.aborted)
        }
        await Promise.all(Array.from({ length: ATTACKERS }, attacker))
      },
    },
  )
  expect([...seen]).toEqual([code])
})
