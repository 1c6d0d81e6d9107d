// The machine that draws rows of features: `pnpm test:pairs --seed 1 --rows 40 --seconds 600`. Each row is a config that is
// checked, started, asked and ended. `--row N` is the row N of the seed alone, `--show` prints its config, `--only a=b,c=d` is a
// row with these features alone, `--whole` shrinks nothing, and `--until-broken` ends with the first violation. Exits with 1 where
// a rule was broken. `--faults` puts back what was wrong once, one at a time, and prints which row finds it; `--fault part` those
// of whose names it is a part, `--alone` in a row of what each needs. Exits with 1 where one is not found.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { coveringRows } from './covering-rows.ts'
import { offRow } from './draw-row.ts'
import { runFaults } from './faults/run-faults.ts'
import { FEATURES, TRIPLES } from './features.ts'
import { runPairs } from './run-pairs.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    seed: { type: 'string', default: '1' },
    rows: { type: 'string' },
    seconds: { type: 'string', default: '2400' },
    row: { type: 'string' },
    only: { type: 'string' },
    whole: { type: 'boolean', default: false },
    'until-broken': { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    faults: { type: 'boolean', default: false },
    fault: { type: 'string' },
    alone: { type: 'boolean', default: false },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const seed = Number(values.seed)
const only = values.only?.split(',').map((pair) => pair.split('=') as [string, string])
const rows = only
  ? [{ ...offRow(FEATURES), ...Object.fromEntries(only) }]
  : coveringRows(FEATURES, seed, TRIPLES).slice(
      0,
      values.rows === undefined ? undefined : Number(values.rows),
    )
if (values.faults || values.fault !== undefined) {
  const missed = await runFaults({
    features: FEATURES,
    rows,
    seed,
    print,
    shrinks: !values.whole,
    part: values.fault ?? '',
    alone: values.alone,
  })
  process.exit(missed > 0 ? 1 : 0)
}
print(`pairs: seed ${seed}, ${rows.length} rows`)
const { counts, done, found } = await runPairs({
  features: FEATURES,
  rows,
  seed,
  seconds: Number(values.seconds),
  print,
  shrinks: !values.whole,
  untilBroken: values['until-broken'],
  ...(values.row !== undefined && { only: [Number(values.row)] }),
  ...(values.show && { onConfig: (file: string) => print(readFileSync(file, 'utf8')) }),
})
const { requests, mutations, spans, scrapes } = counts
print(
  `${done} rows, ${requests} requests, ${mutations} of them mutations, ${spans} spans, ${scrapes} scrapes, ` +
    `${found.length} violations, seed ${seed}`,
)
process.exit(found.length > 0 ? 1 : 0)
