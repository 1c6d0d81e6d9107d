import { createDisposables, freePort, spawnProcess, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postGraphQL, repository, startDemo, type RunningDemo } from '../e2e/support/demo.ts'
import { clientAttacks } from './attacks/clients.ts'
import { socketAttacks } from './attacks/sockets.ts'
import { meetOthers, type Others } from './attacks/others.ts'
import { startAttack, type Attacker } from './attacks/start-attack.ts'
import { recordFigure } from './support/figures.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

const SEED = Number(process.env['FAULTS_SEED'] ?? 1)
/** What every change is held to: the dearest of them. `pnpm test:faults` is all. */
const QUICK: ReadonlySet<string> = new Set([
  '20 connections pipeline without reading',
  '300 clients do not read deferred answers',
  'bursts of 5,000 subscribes on a socket',
  'bodies of a megabyte and variables 10,000 deep',
  '2,000 forms with a part without a head',
  '2,000 connections of one address, each with half a request',
])
const attacks = [...clientAttacks, ...socketAttacks].filter(
  ({ name }) => process.env['FAULTS_QUICK'] !== '1' || QUICK.has(name),
)
const disposables = createDisposables(afterAll)
let demo: RunningDemo
let others: Others

beforeAll(async () => {
  demo = disposables.use(await startDemo({ gatewayArgs: ['--preset', 'production'] }))
  others = await meetOthers(demo.url)
})

it.each(attacks.map((attack) => [attack.name, attack] as const))(
  '%s: others are answered as before',
  async (fault, attack) => {
    let attacker: Attacker
    await besideNeighbours(
      {
        ask: others.ask,
        pid: demo.gateway.pid,
      },
      {
        area: 'clients',
        fault,
        prepare: async () => void (attacker = await startAttack([attack], demo.url, SEED)),
        run: (signal) => attacker.until(signal),
      },
    )
    expect(demo.gateway.isRunning()).toBe(true)
  },
  NEIGHBOURS_TIMEOUT_MS,
)

it('nothing that the attacks asked for is logged as an error of the gateway', () => {
  const lines = demo.gateway.lines.filter((line) => /"level":(50|60)|unhandled|uncaught/i.test(line))
  recordFigure({
    area: 'clients',
    fault: 'lines of errors in the log after all of it',
    asked: 'none',
    seen: String(lines.length),
  })
  expect(lines.slice(0, 3)).toEqual([])
})

it('a full disk under the log: every request is answered, and the process ends as it should', async () => {
  const port = await freePort()
  const start = [
    repository('apps/gateway/dist/main.js'),
    'start',
    '--preset',
    'production',
    '--port',
    `${port}`,
  ]
  const gateway = disposables.use(
    await spawnProcess({
      command: 'sh',
      args: ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, ...start],
      cwd: repository('apps/gateway'),
      env: { USERS_ADDRESS: demo.users.address, SHOP_URL: `http://${demo.shop.address}` },
    }),
  )
  const url = `http://127.0.0.1:${port}`
  await waitUntil(async () => (await fetch(`${url}/health/live`).catch(() => undefined))?.ok === true, {
    timeoutMs: 20_000,
  })
  let answered = 0
  for (let turn = 0; turn < 200; turn++) {
    const { data } = await postGraphQL(`${url}/graphql`, '{ user(id: "1") { id } }')
    if (data.user.id === '1') answered++
  }
  const { code } = await gateway.kill('SIGTERM', 20_000)
  recordFigure({
    area: 'clients',
    fault: 'a full disk under the log',
    asked: 'all answered; exit 0',
    seen: `${answered} of 200 answered; exit ${code}`,
  })
  expect([answered, code]).toEqual([200, 0])
})
