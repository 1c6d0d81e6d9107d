// What @defer costs and brings: ours beside Yoga's plugin and Apollo Server 5, and the started gateway beside itself without
// @defer. `pnpm bench:defer [--gateway] [--smoke] [--write]`, `--gateway`: the latter alone; `--repo ../before`: ours alone, beside
// ours of another checkout, which must be built too.
import { deepStrictEqual } from 'node:assert'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { createDeferClient, type DeferTimes } from './src/defer-client.ts'
import { measureDeferredGateway } from './src/deferred-gateway.ts'
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
    gateway: { type: 'boolean', default: false },
    repo: { type: 'string' },
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
const yoga = (name: string, env: Readonly<Record<string, string>>): Contender => ({
  name,
  file: new URL('contenders/defer-yoga.ts', import.meta.url),
  path: '/graphql',
  accept: patches,
  env,
})
const thin = { BENCH_DEFER_DOOR: 'thin' }
const all: readonly Contender[] = [
  yoga('ours', { BENCH_DEFER_PLUGIN: 'streaming' }),
  yoga('ours behind node-handler', { BENCH_DEFER_PLUGIN: 'streaming', ...thin }),
  yoga('ours, eager', { BENCH_DEFER_PLUGIN: 'eager' }),
  yoga('Yoga plugin', { BENCH_DEFER_PLUGIN: 'yoga' }),
  yoga('Yoga plugin behind node-handler', { BENCH_DEFER_PLUGIN: 'yoga', ...thin }),
  {
    name: 'Apollo Server 5',
    file: new URL('apollo/defer-apollo.ts', import.meta.url),
    path: '',
    accept: 'multipart/mixed;incrementalSpec=v0.2, application/json',
  },
  yoga('Yoga without @defer', {}),
]
const contenders = values.repo ? besideThoseOf(values.repo) : smoke ? all.filter(isInSmokeRuns) : all

/** What only repeats a program that another contender runs is not. */
function isInSmokeRuns({ name }: Contender): boolean {
  return name !== 'Yoga plugin behind node-handler'
}

/** Ours, each beside that of another checkout. */
function besideThoseOf(repo: string): readonly Contender[] {
  const file = pathToFileURL(join(resolve(repo), 'test/bench/contenders/defer-yoga.ts'))
  return all
    .filter(({ name }) => name.startsWith('ours'))
    .flatMap((ours) => [{ ...ours, name: `${ours.name}, there`, file }, ours])
}

interface Case {
  readonly title: string
  readonly query: string
  /** Operations a round and contender; CPU is taken over all of them. */
  readonly operations: number
  /** Operations before the first round, so that what is measured is compiled. */
  readonly warmup: number
  /** The query has no `@defer`: what a plugin costs those who do not use it. */
  readonly isPlain?: true
}

const list = (count: number, deferred: string): string =>
  `{ items(count: ${count}) { id name ... @defer { ${deferred} } } }`
const quick = smoke ? { operations: 5, warmup: 0 } : { operations: 400, warmup: 3_000 }
const slow = smoke ? { operations: 1, warmup: 0 } : { operations: 3, warmup: 3 }
const long = smoke ? { operations: 2, warmup: 0 } : { operations: 100, warmup: 300 }
const longer = smoke ? { operations: 1, warmup: 0 } : { operations: 25, warmup: 75 }
const cases: readonly Case[] = [
  { title: 'a query without @defer', query: '{ fast late: fast }', isPlain: true, ...quick },
  { title: 'nothing to wait for', query: '{ fast ... @defer { late: fast } }', ...quick },
  { title: 'a deferred field of 200 ms', query: '{ fast ... @defer { slow(ms: 200) } }', ...slow },
  {
    title: '50 ms of synchronous deferred work',
    query: '{ fast ... @defer { busy(ms: 50) } }',
    ...slow,
  },
  {
    title: 'first fields 100 ms, deferred 200 ms',
    query: '{ slow(ms: 100) ... @defer { late: slow(ms: 200) } }',
    ...slow,
  },
  {
    title: 'a list of 200 with a deferred fragment each',
    query: list(200, 'price details { text stock tags }'),
    ...long,
  },
  {
    title: 'the same with a promise each',
    query: list(200, 'price rating { stars votes }'),
    ...long,
  },
  {
    title: `a list of ${smoke ? '100' : '1,000'} with a deferred fragment each`,
    query: list(smoke ? 100 : 1_000, 'price details { text stock tags }'),
    ...longer,
  },
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
  { query, isPlain }: Case,
  operations: number,
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
  if (last) check(contender, query, last, isPlain ? 1 : 2)
  return {
    first: median(times.map(({ firstMs }) => firstMs)),
    firstStrict: median(times.map(({ firstStrictMs }) => firstStrictMs)),
    last: median(times.map(({ lastMs }) => lastMs)),
    cpu: (after.cpuMicros - before.cpuMicros) / operations / 1_000,
  }
}

/** A server that knows no `@defer` is asked plain queries only. */
function takesPart({ name }: Contender, { isPlain }: Case): boolean {
  return isPlain === true || name !== 'Yoga without @defer'
}

const answers = new Map<string, unknown>()

/** Every contender's parts, merged, give the same data. */
function check({ name }: Contender, query: string, { bodies }: DeferTimes, leastParts: number): void {
  if (bodies.length < leastParts) throw new Error(`${name} did not defer ${query}`)
  const merged = mergeDeferred(bodies.map((body) => JSON.parse(body) as Record<string, unknown>))
  const known = answers.get(query)
  if (known === undefined) answers.set(query, merged)
  else deepStrictEqual(merged, known)
}

const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`

async function measureGateway(): Promise<void> {
  const table = (await measureDeferredGateway({ rounds, smoke })).join('\n')
  const text = `## @defer, the gateway as its users start it\n\n${machine}. \`pnpm bench:defer --gateway${write ? ' --write' : ''}\`, medians of ${rounds} interleaved rounds (least–most)\n\n${table}`
  if (write) await writeSection(new URL('RESULTS.md', import.meta.url), 'defer-gateway', text)
}

if (!values.repo) await measureGateway()
if (values.gateway) process.exit()
const starting = contenders.map((contender) => startProgram(contender))
try {
  const programs: readonly RunningProgram[] = await Promise.all(starting)
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
    /** Every second time the other way round, so that a drift of the machine falls on all alike. */
    const runAll = async (operations: number, time = 0): Promise<void> => {
      const order = [...contenders.entries()]
      for (const [index, contender] of time % 2 === 0 ? order : order.toReversed()) {
        const program = programs[index]
        if (!program || !takesPart(contender, given)) continue
        found[index]?.push(await runRound(program, contender, given, operations))
      }
    }
    if (given.warmup > 0) await runAll(given.warmup)
    for (const kept of found) kept.length = 0
    for (let round = 0; round < rounds; round++) await runAll(given.operations, round)
    lines.push(`**${given.title}** \`${given.query}\``, '')
    lines.push(
      '| | first payload ms | whole delimiter ms | last byte ms | CPU ms an operation |',
      '|---|--:|--:|--:|--:|',
    )
    const firstLine = lines.length - 4
    for (const [index, { name }] of contenders.entries()) {
      if (found[index]?.length === 0) continue
      const of = (what: keyof Round): string => {
        const { median, min, max } = spreadOf((found[index] ?? []).map((round) => round[what]))
        return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
      }
      lines.push(`| ${name} | ${of('first')} | ${of('firstStrict')} | ${of('last')} | ${of('cpu')} |`)
    }
    lines.push('')
    console.log(lines.slice(firstLine).join('\n'))
  }
  const text = `## @defer\n\n${machine}. \`pnpm bench:defer${write ? ' --write' : ''}\`, medians of ${rounds} interleaved rounds (least–most)\n\n${lines.join('\n')}`
  if (write) await writeSection(new URL('RESULTS.md', import.meta.url), 'defer', text)
  console.log(smoke ? 'smoke run: every answer was right' : versions)
} finally {
  const started = await Promise.allSettled(starting)
  await Promise.all(started.map((start) => (start.status === 'fulfilled' ? start.value.stop() : undefined)))
}
