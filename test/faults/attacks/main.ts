// Hostile clients and backends, chosen at random: `pnpm test:hostile --seed 1 --seconds 120`. With `--holders --heap 1024`,
// mixes of those that fill the gateway's memory. Exits with 1 when a rule was broken.
import { parseArgs } from 'node:util'
import { runHostile } from './run.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '120' },
    holders: { type: 'boolean', default: false },
    heap: { type: 'string', default: '512' },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
const print = (line: string): void => void process.stdout.write(`${line}\n`)
print(`hostile: seed ${seed}`)
const { asked, p99Ms, quietP99Ms, mostMb, mostHeldMb, violations } = await runHostile({
  seed,
  seconds: Number(values.seconds),
  holders: values.holders,
  heapMb: Number(values.heap),
  print,
})
print(`${asked} answers to others, p99 ${p99Ms.toFixed(0)} ms (quiet ${quietP99Ms.toFixed(0)} ms)`)
print(
  `at most ${mostMb.toFixed(0)} MB more than in quiet; the ledger counted ${mostHeldMb.toFixed(0)} MB at most`,
)
print(`${violations.length} violations, seed ${seed}`)
for (const violation of violations.slice(0, 20)) print(violation)
process.exit(violations.length > 0 ? 1 : 0)
