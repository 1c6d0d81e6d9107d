// A run of chaos: `pnpm test:chaos --seed 1 --minutes 5`. Exits with 1 when a rule was broken.
import { parseArgs } from 'node:util'
import { formatReport } from './report.ts'
import { runChaos } from './run.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '5' },
    clients: { type: 'string', default: '200' },
  },
})
// Ends the processes of the run too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
const print = (line: string): void => void process.stdout.write(`${line}\n`)
print(`chaos: seed ${seed}`)
const report = await runChaos({
  seed,
  seconds: Number(values.minutes) * 60,
  clients: Number(values.clients),
  print,
})
print(formatReport(report))
process.exit(report.violations.length > 0 ? 1 : 0)
