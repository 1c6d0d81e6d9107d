import { parseArgs } from 'node:util'
import { runCases } from './run.ts'

// pnpm test:access --count 100000 --seed 1
const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
})
const report = await runCases(Number(values.count), Number(values.seed))
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
process.exitCode = report.wrong.length > 0 || report.unshared > 0 ? 1 : 0
