// A soak: `pnpm test:soak`, five rounds of 30 s. Exits with 1 when a request failed or the heap grew.
import { parseArgs } from 'node:util'
import { heapGrowth, runSoak } from './soak.ts'

/** Of the heap after the first round. */
const MOST_GROWTH = 0.05

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
    clients: { type: 'string', default: '4' },
  },
})
// Ends the processes of the run too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const report = await runSoak({
  rounds: Number(values.rounds),
  secondsPerRound: Number(values.seconds),
  clients: Number(values.clients),
  print,
})
const growth = heapGrowth(report)
const failures = report.rounds.flatMap((round) => round.failures)
for (const failure of failures.slice(0, 5)) print(`  ${failure}`)
print(
  `heap growth after the first round ${(growth * 100).toFixed(1)} % (at most ${MOST_GROWTH * 100}), ` +
    `${failures.length} requests failed, small query alone p99 ${report.aloneP99Ms.toFixed(0)} ms`,
)
process.exit(growth > MOST_GROWTH || failures.length > 0 ? 1 : 0)
