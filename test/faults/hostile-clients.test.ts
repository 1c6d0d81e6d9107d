import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDemo, type RunningDemo } from '../e2e/support/demo.ts'
import { clientAttacks } from './attacks/clients.ts'
import { meetOthers, type Others } from './attacks/others.ts'
import { startAttack } from './attacks/start-attack.ts'
import { recordFigure } from './support/figures.ts'
import { besideNeighbours } from './support/neighbours.ts'

const SEED = Number(process.env['FAULTS_SEED'] ?? 1)
const disposables = createDisposables(afterAll)
let demo: RunningDemo
let others: Others

beforeAll(async () => {
  demo = disposables.use(await startDemo({ gatewayArgs: ['--preset', 'production'] }))
  others = await meetOthers(demo.url)
})

it.each(clientAttacks.map((attack) => [attack.name, attack] as const))(
  '%s: others are answered as before',
  async (fault, attack) => {
    await besideNeighbours(
      { ask: others.ask, pid: demo.gateway.pid },
      {
        area: 'clients',
        fault,
        run: (signal) => startAttack(attack, demo.url, SEED, signal),
      },
    )
    expect(demo.gateway.isRunning()).toBe(true)
  },
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
