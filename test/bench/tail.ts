// How long the slowest answers take at half of what a server can do: the time of the 99th of a hundred requests as a multiple
// of the 50th's, under load at a steady rate. The client is another process than the server, and takes a processor of its own.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { catalog } from './scenarios/catalog.ts'
import { GATEWAY } from './scenarios/gateway.ts'
import { hello } from './scenarios/hello.ts'
import { hits } from './scenarios/hit.ts'
import {
  checkAnswer,
  findLoadGenerator,
  markdownTable,
  type RunningProgram,
  type Scenario,
  sendOpenLoop,
  spreadOf,
  startScenario,
  warmProgram,
  writeSection,
} from './src/index.ts'

const AT_MOST = 3
/** Beside ours, what others make of the same. */
const CONTENDERS = new Set([GATEWAY, 'Mercurius + JIT', 'node:http floor', 'node:http, same bytes'])

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 5))
const seconds = Number(values.seconds ?? (smoke ? 1 : 5))
const connections = Number(values.connections)
const all = [hello, ...catalog, ...hits]
const chosen = smoke ? [hello] : all.filter(({ name }) => values.scenario?.includes(name) ?? true)
const load = await findLoadGenerator()

interface Sample {
  readonly capacity: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly ratio: number
  readonly ownDelayP99Ms: number
}

async function measure(program: RunningProgram, scenario: Scenario): Promise<Sample> {
  const request = program.request ?? scenario.request
  await checkAnswer(program, scenario)
  const full = await load.send(program.url, request, { seconds: smoke ? 1 : 2, connections })
  const capacity = full.requestsPerSecond
  const half = await sendOpenLoop(program.url, request, {
    requestsPerSecond: capacity / 2,
    seconds,
    connections: connections * 4,
  })
  if (full.errors + full.refusals + half.errors > 0)
    throw new Error(`${program.name}: not every answer was 2xx`)
  await checkAnswer(program, scenario)
  const { p50Ms, p99Ms, ownDelayP99Ms } = half
  return { capacity, p50Ms, p99Ms, ratio: p99Ms / p50Ms, ownDelayP99Ms }
}

async function rowsOf(scenario: Scenario): Promise<string[][]> {
  const running = await startScenario({
    ...scenario,
    contenders: scenario.contenders.filter(({ name }) => CONTENDERS.has(name)),
  })
  const samples = new Map<RunningProgram, Sample[]>(running.contenders.map((program) => [program, []]))
  try {
    for (const program of running.contenders) {
      await checkAnswer(program, scenario)
      await warmProgram(program, scenario, { warmUpSeconds: smoke ? 0 : 4, connections, load })
    }
    for (let round = 1; round <= rounds; round++) {
      for (const [program, taken] of samples) taken.push(await measure(program, scenario))
      console.log(`${scenario.name}: round ${round} of ${rounds}`)
    }
  } finally {
    await running.stop()
  }
  return [...samples].map(([{ name }, taken]) => {
    const of = (pick: (sample: Sample) => number): number => spreadOf(taken.map(pick)).median
    const ratio = spreadOf(taken.map((sample) => sample.ratio))
    return [
      scenario.title,
      name,
      of(({ capacity }) => capacity).toFixed(0),
      of(({ p50Ms }) => p50Ms).toFixed(2),
      of(({ p99Ms }) => p99Ms).toFixed(2),
      `${ratio.median.toFixed(1)} (${ratio.min.toFixed(1)}–${ratio.max.toFixed(1)})`,
      name === GATEWAY ? (ratio.median <= AT_MOST ? 'met' : '**missed**') : '',
      of(({ ownDelayP99Ms }) => ownDelayP99Ms).toFixed(2),
    ]
  })
}

const rows: string[][] = []
for (const scenario of chosen) rows.push(...(await rowsOf(scenario)))
const head = [
  'work',
  'server',
  'requests/s at full load',
  'p50 ms',
  'p99 ms',
  'p99 / p50',
  `≤ ${AT_MOST}`,
  'the client itself late by, p99 ms',
]
const command = ['pnpm bench:tail', ...process.argv.slice(2)].join(' ')
const day = new Date().toISOString().slice(0, 10)
const text = `## p99 at half of the capacity

${day}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}. \`${command}\`, medians of ${rounds} rounds (least–most):
full load by ${load.name} on ${connections} connections, then ${seconds} s at a steady half of it on ${connections * 4}. A request's time begins when it
was due, not when a connection was free.

${markdownTable(head, rows)}
`
console.log(`\n${text}`)
if (write) await writeSection(new URL('RESULTS.md', import.meta.url), 'tail', text)
