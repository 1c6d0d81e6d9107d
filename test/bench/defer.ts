// What @defer costs and brings: ours beside Yoga's plugin and Apollo Server 5. `pnpm bench:defer [--smoke] [--write]`
import { deepStrictEqual } from 'node:assert'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { createDeferClient, type DeferTimes } from './src/defer-client.ts'
import { mergeDeferred } from './src/merge-deferred.ts'
import {
  median,
  type Program,
  type RunningProgram,
  spreadOf,
  startProgram,
  writeSection,
} from './src/index.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 7))

interface Contender extends Program {
  readonly path: string
  readonly accept: string
}

const patches = 'multipart/mixed;deferSpec=20220824, application/json'
const yoga = (name: string, strategy?: string): Contender => ({
  name,
  file: new URL('contenders/defer-yoga.ts', import.meta.url),
  path: '/graphql',
  accept: patches,
  ...(strategy && { env: { BENCH_DEFER_STRATEGY: strategy } }),
})
const contenders: readonly Contender[] = [
  yoga('ours, streaming', 'streaming'),
  yoga('ours, eager', 'eager'),
  yoga('Yoga plugin'),
  {
    name: 'Apollo Server 5',
    file: new URL('apollo/defer-apollo.ts', import.meta.url),
    path: '',
    accept: 'multipart/mixed;incrementalSpec=v0.2, application/json',
  },
]

interface Case {
  readonly title: string
  readonly query: string
  /** Operations a round and contender; CPU is taken over all of them. */
  readonly operations: number
}

const few = smoke ? 1 : 3
const list = (count: number): string =>
  `{ items(count: ${count}) { id name ... @defer { price details { text stock tags } } } }`
const cases: readonly Case[] = [
  { title: 'nothing to wait for', query: '{ fast ... @defer { late: fast } }', operations: smoke ? 5 : 200 },
  { title: 'a deferred field of 200 ms', query: '{ fast ... @defer { slow(ms: 200) } }', operations: few },
  {
    title: '50 ms of synchronous deferred work',
    query: '{ fast ... @defer { busy(ms: 50) } }',
    operations: few,
  },
  {
    title: 'first fields 100 ms, deferred 200 ms',
    query: '{ slow(ms: 100) ... @defer { late: slow(ms: 200) } }',
    operations: few,
  },
  { title: 'a list of 200 with a deferred fragment each', query: list(200), operations: smoke ? 2 : 40 },
  { title: 'a list of 1,000 with a deferred fragment each', query: list(1_000), operations: smoke ? 1 : 12 },
]

interface Round {
  readonly first: number
  readonly firstStrict: number
  readonly last: number
  readonly cpu: number
}

async function runRound(
  program: RunningProgram,
  contender: Contender,
  { query, operations }: Case,
): Promise<Round> {
  // A connection of its own each round: servers close those that were idle while the others had their turn.
  const client = createDeferClient()
  const times: DeferTimes[] = []
  const before = await program.usage()
  for (let operation = 0; operation < operations; operation++) {
    times.push(await client.ask(new URL(contender.path, program.url).href, query, contender.accept))
  }
  const after = await program.usage()
  client.close()
  const last = times.at(-1)
  if (last) check(contender, query, last)
  return {
    first: median(times.map(({ firstMs }) => firstMs)),
    firstStrict: median(times.map(({ firstStrictMs }) => firstStrictMs)),
    last: median(times.map(({ lastMs }) => lastMs)),
    cpu: (after.cpuMicros - before.cpuMicros) / operations / 1_000,
  }
}

const answers = new Map<string, unknown>()

/** Every contender's parts, merged, give the same data. */
function check({ name }: Contender, query: string, { bodies }: DeferTimes): void {
  if (bodies.length < 2) throw new Error(`${name} did not defer ${query}`)
  const merged = mergeDeferred(bodies.map((body) => JSON.parse(body) as Record<string, unknown>))
  const known = answers.get(query)
  if (known === undefined) answers.set(query, merged)
  else deepStrictEqual(merged, known)
}

const programs: RunningProgram[] = []
try {
  for (const contender of contenders) programs.push(await startProgram(contender))
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`
  const versions = programs
    .map(
      ({ name, versions }) =>
        `${name}: ${Object.entries(versions)
          .map((entry) => entry.join(' '))
          .join(', ')}`,
    )
    .join('; ')
  const lines: string[] = [versions, '']
  for (const given of cases) {
    const found = contenders.map((): Round[] => [])
    const runAll = async (keep: boolean): Promise<void> => {
      for (const [index, contender] of contenders.entries()) {
        const program = programs[index]
        if (!program) continue
        const round = await runRound(program, contender, given)
        if (keep) found[index]?.push(round)
      }
    }
    for (let warm = 0; warm < (smoke ? 0 : 2); warm++) await runAll(false)
    for (let round = 0; round < rounds; round++) await runAll(true)
    lines.push(`**${given.title}** \`${given.query}\``, '')
    lines.push(
      '| | first payload ms | whole delimiter ms | last byte ms | CPU ms an operation |',
      '|---|--:|--:|--:|--:|',
    )
    for (const [index, { name }] of contenders.entries()) {
      const of = (what: keyof Round): string => {
        const { median, min, max } = spreadOf((found[index] ?? []).map((round) => round[what]))
        return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
      }
      lines.push(`| ${name} | ${of('first')} | ${of('firstStrict')} | ${of('last')} | ${of('cpu')} |`)
    }
    lines.push('')
    console.log(lines.slice(-5 - contenders.length).join('\n'))
  }
  const text = `## @defer\n\n${machine}. \`pnpm bench:defer${write ? ' --write' : ''}\`, medians of ${rounds} interleaved rounds (least–most)\n\n${lines.join('\n')}`
  if (write) await writeSection(new URL('RESULTS.md', import.meta.url), 'defer', text)
  console.log(smoke ? 'smoke run: every answer was right' : versions)
} finally {
  await Promise.all(programs.map((program) => program.stop()))
}
