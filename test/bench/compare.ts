// What the project's own programs cost here and in another checkout, which must be built too, in interleaved rounds.
// `pnpm bench:compare --repo ../before [--starts 3] [--rounds 5] [--seconds 3] [--scenario grpc-1] [--gateway] [--get]`;
// `--gateway` takes `vinyasa start` in place of the packages behind node-handler, `--get` asks by GET. Both are started anew
// `--starts` times: what a process optimises, and when, differs from start to start by more than most changes do.
import { deepStrictEqual } from 'node:assert'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { catalog } from './scenarios/catalog.ts'
import { GATEWAY } from './scenarios/gateway.ts'
import { hello } from './scenarios/hello.ts'
import { documents } from './scenarios/documents.ts'
import { hits } from './scenarios/hit.ts'
import { posts } from './scenarios/posts.ts'
import { itemsOf, itemsQuery } from './src/cache-schema.ts'
import {
  type BenchRequest,
  findLoadGenerator,
  type Program,
  runScenario,
  type Scenario,
  spreadOf,
} from './src/index.ts'

const { values } = parseArgs({
  options: {
    repo: { type: 'string' },
    starts: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    scenario: { type: 'string', multiple: true },
    gateway: { type: 'boolean', default: false },
    get: { type: 'boolean', default: false },
  },
})
if (values.repo === undefined) throw new Error('--repo names the other checkout')
const contenders = pathToFileURL(join(resolve(values.repo), 'test/bench/contenders/'))

function cacheScenario(mode: 'memory' | 'miss', items: number): Scenario {
  return {
    name: `cache-${mode}-${items}`,
    title: `${mode === 'memory' ? 'A cached list' : 'A list that is never cached'} of ${items} items`,
    request: { path: '/graphql', body: JSON.stringify({ query: itemsQuery }) },
    check: (answer) => deepStrictEqual(answer, { data: { items: itemsOf(items) } }),
    contenders: [
      {
        name: 'ours',
        file: new URL('contenders/cache-yoga.ts', import.meta.url),
        env: { BENCH_ITEMS: String(items), BENCH_CACHE: mode, BENCH_DOOR: 'node-handler' },
      },
    ],
    targets: [],
  }
}

function isOurs({ name, file }: Program): boolean {
  return values.gateway ? name === GATEWAY : /(vinyasa|cache-yoga)\.ts$/.test(file.pathname)
}

const all = [
  hello,
  ...catalog,
  ...posts,
  ...hits,
  ...documents,
  cacheScenario('memory', 20),
  cacheScenario('memory', 2000),
  cacheScenario('miss', 20),
]

/** The same, asked by a GET. */
function asGet<Request extends BenchRequest | undefined>(request: Request): Request {
  if (!values.get || !request) return request
  const { query, variables } = JSON.parse(request.body) as Record<string, unknown>
  const search = new URLSearchParams({ query: String(query) })
  if (variables) search.set('variables', JSON.stringify(variables))
  const headers = { ...request.headers, 'x-graphql-csrf': '1' }
  const path = `${request.path}?${search}`.replaceAll(encodeURIComponent('{n}'), '{n}')
  return { ...request, method: 'GET', path, headers }
}

const load = await findLoadGenerator()
for (const scenario of all) {
  if (values.scenario && !values.scenario.includes(scenario.name)) continue
  const [ours] = scenario.contenders.filter(isOurs).slice(-1)
  if (!ours) continue
  const there = new URL(fileURLToPath(ours.file).replace(/^.*\//, ''), contenders)
  const compared: Scenario = {
    ...scenario,
    request: asGet(scenario.request),
    contenders: [
      { ...ours, request: asGet(ours.request), name: 'there', file: there },
      { ...ours, request: asGet(ours.request), name: 'here' },
    ],
  }
  const starts: (readonly [there: number, here: number])[] = []
  while (starts.length < Number(values.starts)) {
    const { contenders: results } = await runScenario(compared, {
      rounds: Number(values.rounds),
      secondsPerRound: Number(values.seconds),
      warmUpSeconds: 4,
      connections: 16,
      load,
      log: () => {},
    })
    const [before = 0, after = 0] = results.map(
      ({ samples }) => spreadOf(samples.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest)).median,
    )
    starts.push([before, after])
  }
  const ratio = spreadOf(starts.map(([before, after]) => after / before))
  const of = (side: 0 | 1): string => {
    const { min, median, max } = spreadOf(starts.map((start) => start[side]))
    return `${median.toFixed(1)} µs (${min.toFixed(1)} to ${max.toFixed(1)})`
  }
  console.log(
    `${scenario.name}: there ${of(0)}, here ${of(1)}; here / there ${ratio.median.toFixed(3)} (${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)}, ${starts.length} starts)`,
  )
}
