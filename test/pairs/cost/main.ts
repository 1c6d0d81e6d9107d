// What two features add to the CPU of a known query, beside what each adds alone: `pnpm test:pairs:cost --rounds 15 --pairs 20`.
// `--only jwt=claims,cache=types` measures these and no others. Four gateways are asked in turns (neither, each, both), in many
// short rounds, and the least that each was seen to need counts: collections and other work on the machine only add to it.
// Exits with 1 where both add more than the sum in each of three measurements, with a slack of 0.3 of what each changes and
// 0.05 of a request.
import { parseArgs } from 'node:util'
import type { Row } from '../feature.ts'
import { openMeasured, type Measured } from './measure.ts'

/** What people deploy. Values that need each other stand together. */
const DEPLOYED: Readonly<Record<string, Row>> = {
  cache: { cache: 'types' },
  live: { live: 'sse' },
  metrics: { metrics: 'on' },
  log: { log: 'json' },
  jwt: { jwt: 'claims' },
  access: { jwt: 'whole operations' },
  rateLimit: { rateLimit: 'wide' },
  documents: { documents: 'allow' },
  apq: { apq: 'on' },
  cost: { cost: 'told' },
  production: { preset: 'production' },
  forward: { forward: 'all' },
  defer: { defer: 'usual' },
}
const [SLACK, FLOOR] = [0.3, 0.05]
/** How often what seems to be more than the sum is measured once more. */
const AGAIN = 2

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    rounds: { type: 'string', default: '15' },
    pairs: { type: 'string' },
    only: { type: 'string' },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const names = values.only?.split(',') ?? Object.keys(DEPLOYED)
const pairs = names
  .flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const))
  .filter((pair) => fits(...pair))
  .slice(0, values.pairs === undefined ? undefined : Number(values.pairs))
const rounds = Number(values.rounds)

print(
  '| one | other | one alone | other alone | both | the sum | |\n| --- | --- | --: | --: | --: | --: | --- |',
)
const kept = createGateways()
let broken = 0
for (const [one, other] of pairs) {
  let seen = await measure(kept, one, other)
  // Two processes that do the same may differ by a tenth, as V8 compiles them: it counts with gateways of its own alone.
  for (let again = AGAIN; again > 0 && seen.isMore; again--) {
    await using gateways = createGateways()
    seen = await measure(gateways, one, other)
  }
  if (seen.isMore) broken++
  const said = seen.parts.map((part) => `${part < 0 ? '' : '+'}${part.toFixed(2)}`)
  print(`| ${one} | ${other} | ${said.join(' | ')} | ${seen.isMore ? 'more than the sum' : ''} |`)
}
await kept[Symbol.asyncDispose]()
process.exit(broken > 0 ? 1 : 0)

interface Seen {
  /** What one, the other and both add, in parts of a request with neither, and the sum of the former. */
  readonly parts: readonly number[]
  readonly isMore: boolean
}

async function measure(gateways: Gateways, one: string, other: string): Promise<Seen> {
  const both = await openMeasured({ ...valuesOf(one), ...valuesOf(other) })
  const all = [await gateways.with(), await gateways.with(one), await gateways.with(other), both]
  for (const gateway of all) await gateway.warm()
  const least = all.map(() => Infinity)
  for (let round = 0; round < rounds; round++)
    for (const [index, gateway] of all.entries())
      least[index] = Math.min(least[index] ?? Infinity, await gateway.round())
  await both[Symbol.asyncDispose]()
  const [without = 0, ...others] = least
  const [first = 0, second = 0, together = 0] = others.map((micros) => micros / without - 1)
  const bound = first + second + SLACK * (Math.abs(first) + Math.abs(second)) + FLOOR
  return { parts: [first, second, together, first + second], isMore: together > bound }
}

interface Gateways extends AsyncDisposable {
  /** The one that has this feature alone, or none. */
  with(name?: string): Promise<Measured>
}

function createGateways(): Gateways {
  const open = new Map<string | undefined, Measured>()
  return {
    async with(name) {
      const gateway = open.get(name) ?? (await openMeasured(name === undefined ? {} : valuesOf(name)))
      open.set(name, gateway)
      return gateway
    },
    async [Symbol.asyncDispose]() {
      for (const gateway of open.values()) await gateway[Symbol.asyncDispose]()
    },
  }
}

/** Of one feature there is one value. */
function fits(one: string, other: string): boolean {
  return Object.keys(valuesOf(one)).every((name) => !(name in valuesOf(other)))
}

function valuesOf(name: string): Row {
  const values = DEPLOYED[name]
  if (!values) throw new Error(`${name} is none of ${Object.keys(DEPLOYED).join(', ')}`)
  return values
}
