import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { catalog } from './scenarios/catalog.ts'
import { clients } from './scenarios/clients.ts'
import { deployed } from './scenarios/deployed.ts'
import { withEverythingOn } from './scenarios/everything-on.ts'
import { GATEWAY } from './scenarios/gateway.ts'
import { hello } from './scenarios/hello.ts'
import { documents } from './scenarios/documents.ts'
import { hits } from './scenarios/hit.ts'
import { posts } from './scenarios/posts.ts'
import { supply } from './scenarios/supply.ts'
import {
  findLoadGenerator,
  formatScenario,
  formatTargets,
  outcomes,
  runScenario,
  type Scenario,
  type ScenarioResult,
  writeSection,
} from './src/index.ts'

const scenarios: readonly Scenario[] = [
  hello,
  ...catalog,
  ...posts,
  ...hits,
  ...documents,
  ...clients,
  supply,
  ...withEverythingOn,
  ...deployed,
]

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    contender: { type: 'string', multiple: true },
    unbroken: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 5))
const secondsPerRound = Number(values.seconds ?? (smoke ? 1 : 3))
/** Between them these run every program, and the smoke run is about that. */
const SMOKE = [
  'hello',
  'grpc-1',
  'rest-100',
  'join-grpc-rest',
  'hit-100',
  'new-literals',
  'mutation',
  'supply',
  'everything-on-hello',
  'deployed-hello',
]
const names = values.scenario ?? (smoke ? SMOKE : undefined)
const chosen = scenarios.filter(({ name }) => names?.includes(name) ?? true)
const load = await findLoadGenerator()
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load by ${load.name}`)

const results: ScenarioResult[] = []
const command = ['pnpm bench', ...process.argv.slice(2)].join(' ')
const day = new Date().toISOString().slice(0, 10)
const note = `${day}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load by ${load.name}. \`${command}\``
const file = new URL('RESULTS.md', import.meta.url)
for (const scenario of chosen) {
  const result = await runScenario(only(scenario), {
    rounds,
    secondsPerRound,
    warmUpSeconds: smoke ? 0 : values.unbroken ? 10 : 4,
    isUnbroken: values.unbroken,
    connections: Number(values.connections),
    load,
    log: (line) => console.log(line),
  })
  const text = formatScenario(result)
  console.log(`\n${text}`)
  results.push(result)
  if (write) await writeSection(file, scenario.name, text.replace('\n\n', `\n\n${note}\n\n`))
}
// Of all scenarios or of none: a table of some would stand in the place of one of all. Each Node has its own.
if (write && !values.scenario) {
  const [major] = process.versions.node.split('.')
  const table = formatTargets(results, GATEWAY)
  const text = `## The gateway beside others, Node ${major}\n\n${note}, medians of ${rounds} interleaved rounds\n\n${table}`
  await writeSection(file, `targets-node-${major}`, text)
}
const missed = results.flatMap(outcomes).filter(({ met }) => !met).length
// A smoke run shows that everything runs and answers rightly; its figures mean nothing.
console.log(smoke ? 'smoke run: every answer was right' : `${missed} targets missed`)

/** The scenario with the contenders that were asked for, and the targets among them. */
function only(scenario: Scenario): Scenario {
  const { contender: asked } = values
  if (!asked) return scenario
  const isAsked = (name: string): boolean => asked.includes(name)
  return {
    ...scenario,
    contenders: scenario.contenders.filter(({ name }) => isAsked(name)),
    targets: scenario.targets.filter(({ of, against }) => isAsked(of) && isAsked(against)),
  }
}
