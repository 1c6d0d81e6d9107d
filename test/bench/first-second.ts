// What a fresh process costs: CPU of its first second under load beside what it settles at, and how much more it used in that
// second than it would have later, which does not depend on how many requests the second had.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { catalog } from './scenarios/catalog.ts'
import { SILENT_GATEWAY } from './scenarios/gateway.ts'
import {
  checkAnswer,
  findLoadGenerator,
  markdownTable,
  type Program,
  type RunningProgram,
  type Scenario,
  spreadOf,
  startProgram,
  warmProgram,
  writeSection,
} from './src/index.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    write: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
const connections = Number(values.connections)
const load = await findLoadGenerator()

interface Sample {
  readonly requests: number
  readonly firstMicros: number
  readonly settledMicros: number
}

async function loaded(
  program: RunningProgram,
  { request }: Scenario,
  seconds: number,
): Promise<[number, number]> {
  const before = await program.usage()
  const { requests } = await load.send(program.url, program.request ?? request, { seconds, connections })
  const { cpuMicros } = await program.usage()
  return [requests, (cpuMicros - before.cpuMicros) / requests]
}

async function measure(program: RunningProgram, scenario: Scenario): Promise<Sample> {
  const [requests, firstMicros] = await loaded(program, scenario, 1)
  await checkAnswer(program, scenario)
  await warmProgram(program, scenario, { warmUpSeconds: 8, connections, load })
  const [, settledMicros] = await loaded(program, scenario, 2)
  return { requests, firstMicros, settledMicros }
}

const rows: string[][] = []
for (const scenario of catalog.filter((one) => one.name.endsWith('-1'))) {
  const running = await Promise.all((scenario.backends ?? []).map((backend) => startProgram(backend)))
  const env = Object.fromEntries(
    (scenario.backends ?? []).map(({ name }, at) => [
      `BENCH_${name.toUpperCase()}_URL`,
      running[at]?.url ?? '',
    ]),
  )
  const contenders = scenario.contenders.filter(
    ({ name }) => name === SILENT_GATEWAY || /by hand|JIT/.test(name),
  )
  const fresh = async <T>(one: Program, use: (program: RunningProgram) => Promise<T>): Promise<T> => {
    const program = await startProgram(one, env)
    try {
      return await use(program)
    } finally {
      await program.stop()
    }
  }
  const samples: Sample[][] = []
  try {
    // The first round is the backend's own warm-up.
    for (let round = 0; round <= rounds; round++) {
      const sampled: Sample[] = []
      for (const one of contenders) sampled.push(await fresh(one, (program) => measure(program, scenario)))
      if (round > 0) samples.push(sampled)
    }
  } finally {
    for (const backend of running) await backend.stop()
  }
  for (const [at, { name }] of contenders.entries()) {
    const of = (value: (sample: Sample) => number, digits = 0): string => {
      const { median, min, max } = spreadOf(samples.map((sampled) => value(sampled[at] as Sample)))
      return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
    }
    rows.push([
      `${scenario.name}, ${name}`,
      of(({ firstMicros }) => firstMicros),
      of(({ settledMicros }) => settledMicros),
      of(({ firstMicros, settledMicros }) => firstMicros / settledMicros, 1),
      of(({ requests }) => requests),
      of(({ requests, firstMicros, settledMicros }) => ((firstMicros - settledMicros) * requests) / 1000),
    ])
  }
}

const head = ['a fresh process', 'µs in its first second', 'settled', 'ratio', 'requests', 'CPU ms more']
const table = markdownTable(head, rows)
const day = new Date().toISOString().slice(0, 10)
const command = ['pnpm bench:first-second', ...process.argv.slice(2)].join(' ')
const note = `${day}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load by ${load.name}. \`${command}\``
console.log(`${note}\n\n${table}`)
if (values.write)
  await writeSection(
    new URL('RESULTS.md', import.meta.url),
    'first-second',
    `## The first second of a fresh process\n\n${note}, medians of ${rounds} rounds (least–most)\n\n${table}`,
  )
