import { createDisposables } from '@vinyasa/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startDemo, type RunningDemo } from '../e2e/support/demo.ts'
import { bodyAttacks } from './attacks/bodies.ts'
import { holderAttacks } from './attacks/holders.ts'
import { meetOthers, type Others } from './attacks/others.ts'
import { startAttack, type Attacker } from './attacks/start-attack.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

const SEED = Number(process.env['FAULTS_SEED'] ?? 1)
/** A quarter of it is what the gateway holds for all clients together. */
const HEAP_MB = 192

const disposables = createDisposables(afterEach)
let demo: RunningDemo
let others: Others

beforeEach(async () => {
  demo = disposables.use(
    await startDemo({
      gatewayArgs: ['--preset', 'production'],
      gatewayEnv: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`, MALLOC_MMAP_THRESHOLD_: '131072' },
    }),
  )
  others = await meetOthers(demo.url)
})

it.each([...bodyAttacks, ...holderAttacks].map((attack) => [attack.name, attack] as const))(
  `${HEAP_MB} MB of heap, %s: others are answered as before`,
  async (fault, attack) => {
    let attacker: Attacker
    await besideNeighbours(
      { ask: others.ask, pid: demo.gateway.pid },
      {
        area: 'memory',
        fault,
        prepare: async () => void (attacker = await startAttack([attack], demo.url, SEED)),
        run: (signal) => attacker.until(signal),
      },
    )
    expect(demo.gateway.isRunning()).toBe(true)
  },
  NEIGHBOURS_TIMEOUT_MS,
)
