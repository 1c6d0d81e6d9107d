// Gateways that share a broker: what the bus between them carries, what the broker needs for it, and when the last of them has
// evicted what a mutation changed. Each follows one live query. Reads /proc: Linux only.
import { freemem } from 'node:os'
import { parseArgs } from 'node:util'
import { createDisposables } from '@vinyasa/test-kit'
import { writeSection } from '../src/index.ts'
import { machineOf } from '../src/machine.ts'
import { BROKERS, type BrokerName, startBroker } from './brokers.ts'
import { type RunningGateway, startFleetGateway } from './gateways.ts'
import { checkCaches, runFleet } from './run.ts'
import { idleTable, loadTable, NAMES, type Cell } from './tables.ts'

const { values } = parseArgs({
  options: {
    broker: { type: 'string', multiple: true },
    size: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 3))
const seconds = Number(values.seconds ?? (smoke ? 1 : 5))
const sizes = (values.size ?? (smoke ? ['2'] : ['1', '2', '4', '8', '16'])).map(Number)
const brokers = BROKERS.filter((name) => values.broker?.includes(name) ?? true)
const RATES = smoke ? [0, 10] : [0, 1, 10, 100]
const command = ['pnpm bench:fleet', ...process.argv.slice(2)].join(' ')
/** What a gateway may take, of memory that is free. */
const GATEWAY_BYTES = 200 * 2 ** 20

const cells = brokers.flatMap((broker) =>
  sizes.flatMap((size) => RATES.map((rate): Cell => ({ broker, size, rate, samples: [] }))),
)
const leftOut = new Set<string>()

/** The fleet grows from one size to the next, so that each gateway starts once. */
async function measure(name: BrokerName): Promise<void> {
  const { use, dispose } = createDisposables()
  try {
    const broker = use(await startBroker(name))
    const gateways: RunningGateway[] = []
    for (const size of sizes) {
      if (freemem() < (size - gateways.length) * GATEWAY_BYTES) {
        leftOut.add(`${size} gateways on ${NAMES[name]}: ${Math.round(freemem() / 2 ** 20)} MiB are free`)
        continue
      }
      while (gateways.length < size) gateways.push(use(await startFleetGateway(broker.env)))
      await checkCaches(gateways)
      const shareToOne = await broker.follow?.()
      await runFleet(broker, gateways, 10, smoke ? 1 : 3)
      const toOne = shareToOne?.()
      for (const { broker: of, size: large, rate, samples } of cells) {
        if (of !== name || large !== size) continue
        const sample = await runFleet(broker, gateways, rate, seconds, toOne)
        samples.push(sample)
        const { published, delivered, liveRuns, stale } = sample
        console.log(
          `${name}, ${size} gateways, ${rate}/s: ${JSON.stringify({ published, delivered, liveRuns, stale })}`,
        )
      }
    }
  } finally {
    await dispose()
  }
}

// One listener for each gateway.
process.setMaxListeners(64)
for (let round = 0; round < rounds; round++) {
  for (const name of round % 2 === 0 ? brokers : brokers.toReversed()) await measure(name)
  console.log(`\n${textOf(round + 1)}`)
}

function textOf(roundsDone: number): string {
  const measured = cells.filter(({ samples }) => samples.length > 0)
  return `## Many gateways

${machineOf()}. \`${command}\`, ${roundsDone} rounds of ${seconds} s for each rate: medians (least–most), times of all rounds together.
Each gateway follows one live query, and is asked for mutations in turn; the next one is asked for what changed before and after each.

With no mutations there are heartbeats; a second, all gateways together:

${idleTable(measured)}

With mutations, without what there is without them; a mutation:

${loadTable(measured)}

On Redis the cache's store publishes too, to all, what it is told of each change; its commands, and the reads beside the mutations, are in
its bytes. NATS counts what it delivers, of Redis it is reckoned from whom the messages are for. All gateways have evicted before the mutation is
answered, where that took less than a second, and each before its live query runs again: the smaller of the two times bounds the last eviction. Done/s below what was asked for says that the machine is too small, broker and gateways on it.
${[...leftOut].map((what) => `\nLeft out: ${what}.`).join('')}
`
}

if (write) await writeSection(new URL('../RESULTS.md', import.meta.url), 'fleet', textOf(rounds))
const stale = cells.flatMap(({ samples }) => samples).reduce((sum, sample) => sum + sample.stale, 0)
if (stale > 0) throw new Error(`${stale} reads were older than a mutation that had been answered`)
