// A soak: `pnpm test:soak`, five rounds of 30 s, then strangers who each bring what is new. Exits with 1 when a request
// failed or the heap grew.
import { parseArgs } from 'node:util'
import { heapGrowth, runSoak } from './soak.ts'
import { runStrangers } from './strangers.ts'

/** Of the heap after the first round, or the first pass. */
const MOST_GROWTH = 0.05

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
    clients: { type: 'string', default: '4' },
    // Of 20,000 new shapes, 60,000 cache keys and 10,000 sockets a pass; 0 leaves them out.
    strangers: { type: 'string', default: '1' },
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
print(
  `heap growth after the first round ${percent(growth)} (at most ${percent(MOST_GROWTH)}), ` +
    `${failures.length} requests failed, small query alone p99 ${report.aloneP99Ms.toFixed(0)} ms`,
)
const strangers =
  Number(values.strangers) > 0 ? await runStrangers({ share: Number(values.strangers), print }) : []
for (const { name, growth: more, failures: failed } of strangers) {
  print(`${name}: heap growth after the first pass ${percent(more)}, ${failed.length} failed`)
  failures.push(...failed)
}
for (const failure of failures.slice(0, 5)) print(`  ${failure}`)
const most = Math.max(growth, ...strangers.map((report) => report.growth))
process.exit(most > MOST_GROWTH || failures.length > 0 ? 1 : 0)

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
