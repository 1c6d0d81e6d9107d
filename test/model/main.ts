// A run of the model checker: `pnpm test:model --seed 1 --seconds 60`; `--seed 1:7` is the seventh world of seed 1 alone,
// and shows the steps that its violation needs. `--until-broken` begins no world after a violation, `--write` puts the counts
// into RESULTS.md. Exits with 1 when a rule was broken. `--fixtures gateway,plugins,redis,workers,mortal,fleet,callers` says
// which kinds of worlds, and is part of what a seed decides. MODEL_LOG=error shows what gateways log.
import { parseArgs } from 'node:util'
import type { WorldKind } from './plan.ts'
import { formatReport } from './report.ts'
import { writeResults } from './results.ts'
import { runModel } from './run.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    fixtures: { type: 'string' },
    'until-broken': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
// Ends the processes of the run too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const [seed = 0, world] = (values.seed ?? String(Math.floor(Math.random() * 1_000_000)))
  .split(':')
  .map(Number)
const print = (line: string): void => void process.stdout.write(`${line}\n`)
print(`model: seed ${seed}`)
const report = await runModel({
  seed,
  seconds: Number(values.seconds),
  world,
  fixtures: values.fixtures?.split(',') as WorldKind[] | undefined,
  untilBroken: values['until-broken'],
  print,
})
print(formatReport(report))
if (values.write) writeResults(report)
process.exit(report.violations.length > 0 ? 1 : 0)
