// Every stage of a request, with everything wrong: `pnpm test:stages --seed 1 --count 20000`. Exits with 1 where a rule was broken.
import { parseArgs } from 'node:util'
import { runStages } from './run.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '20000' } },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const violations: string[] = []
const onViolation = (text: string): void => {
  violations.push(text)
  if (violations.length <= 20 || !text.startsWith('seed')) print(text)
}
const count = Math.ceil(Number(values.count) / 2)
for (const uploads of [false, true]) {
  const statuses = await runStages({ seed: Number(values.seed), count, uploads, onViolation })
  print(`files ${uploads ? 'streamed' : 'read whole'}: ${JSON.stringify(Object.fromEntries(statuses))}`)
}
print(`${violations.length} violations in ${values.count} cases, seed ${values.seed}`)
process.exit(violations.length > 0 ? 1 : 0)
