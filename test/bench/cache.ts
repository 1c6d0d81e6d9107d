// What a cached answer costs: ours beside Yoga's plugin, no cache and bare node:http.
// `pnpm bench:cache [--smoke] [--write] [--items 20]`
import { deepStrictEqual } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { itemsOf, itemsQuery } from './src/cache-schema.ts'
import {
  findLoadGenerator,
  formatScenario,
  type Program,
  runScenario,
  type Scenario,
  writeSection,
} from './src/index.ts'

const { values } = parseArgs({
  options: {
    items: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const sizes = values.items ?? (smoke ? ['20'] : ['20', '200', '2000'])
const redisUrl = await startOwnRedis()

/** Each size has a database of its own: the query, and so the key, is the same for all. */
function scenarioOf(items: number): Scenario {
  const program = (name: string, file: string, mode = '', door = ''): Program => ({
    name,
    file: new URL(`contenders/${file}.ts`, import.meta.url),
    env: {
      BENCH_ITEMS: String(items),
      BENCH_CACHE: mode,
      BENCH_DOOR: door,
      ...(redisUrl && { BENCH_REDIS_URL: `${redisUrl}/${sizes.indexOf(String(items))}` }),
    },
  })
  const data = { items: itemsOf(items) }
  return {
    name: `cache-${items}`,
    title: `Cached list of ${items} items, 5 fields each`,
    request: { path: '/graphql', body: JSON.stringify({ query: itemsQuery }) },
    check: (answer) => deepStrictEqual(answer, { data }),
    contenders: [
      program('no cache', 'cache-yoga', 'none'),
      program('Yoga plugin', 'cache-yoga', 'yoga'),
      program('ours, memory', 'cache-yoga', 'memory'),
      program('ours behind node-handler', 'cache-yoga', 'memory', 'node-handler'),
      ...(redisUrl ? [program('ours, Redis', 'cache-yoga', 'redis')] : []),
      program('ours, always a miss', 'cache-yoga', 'miss'),
      program('node:http, same bytes', 'cache-floor'),
    ],
    targets: [
      { of: 'ours, memory', against: 'Yoga plugin', atMost: items >= 2000 ? 1 / 8 : 1 / 2 },
      {
        of: 'ours behind node-handler',
        against: 'Yoga plugin',
        atMost: items >= 2000 ? 1 / 8 : 1 / 2,
      },
      { of: 'ours behind node-handler', against: 'node:http, same bytes', atMost: 1.6 },
      { of: 'ours, always a miss', against: 'no cache', atMost: 1.15 },
    ],
  }
}

const constant: Scenario = {
  name: 'cache-constant',
  title: 'Yoga answering a constant, and a hit on it',
  request: { path: '/graphql', body: JSON.stringify({ query: '{ constant }' }) },
  check: (answer) => deepStrictEqual(answer, { data: { constant: 'x' } }),
  contenders: [
    {
      name: 'no cache',
      file: new URL('contenders/cache-yoga.ts', import.meta.url),
      env: { BENCH_CACHE: 'none' },
    },
    {
      name: 'ours, memory',
      file: new URL('contenders/cache-yoga.ts', import.meta.url),
      env: { BENCH_CACHE: 'memory' },
    },
  ],
  targets: [{ of: 'ours, memory', against: 'no cache', atMost: 1.5 }],
}

/** Most of what the cache saves on small answers is Yoga's counting of the body; here nobody counts. */
const unlimited: Scenario = {
  ...scenarioOf(20),
  name: 'cache-20-unlimited',
  title: 'Cached list of 20 items, all with `maxRequestBodySize: false`',
  contenders: [
    ['no cache', 'none'],
    ['Yoga plugin', 'yoga'],
    ['ours, memory', 'memory'],
    ['ours, always a miss', 'miss'],
  ].map(([name = '', mode = '']) => ({
    name,
    file: new URL('contenders/cache-yoga.ts', import.meta.url),
    env: { BENCH_CACHE: mode, BENCH_LIMIT: 'none' },
  })),
  targets: [
    { of: 'ours, memory', against: 'Yoga plugin', atMost: 1 / 2 },
    { of: 'ours, always a miss', against: 'no cache', atMost: 1.15 },
  ],
}

const load = await findLoadGenerator()
const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load by ${load.name}`
console.log(machine)
const sized = sizes.map((items) => scenarioOf(Number(items)))
for (const scenario of smoke ? sized : [constant, ...sized, unlimited]) {
  const result = await runScenario(scenario, {
    rounds: Number(values.rounds ?? (smoke ? 1 : 5)),
    secondsPerRound: Number(values.seconds ?? (smoke ? 1 : 3)),
    warmUpSeconds: smoke ? 0 : 3,
    connections: 16,
    load,
    log: (line) => console.log(line),
  })
  const text = formatScenario(result)
  console.log(`\n${text}`)
  if (!write) continue
  const command = ['pnpm bench:cache', ...process.argv.slice(2)].join(' ')
  const note = `${new Date().toISOString().slice(0, 10)}, ${machine}. \`${command}\``
  await writeSection(
    new URL('RESULTS.md', import.meta.url),
    scenario.name,
    text.replace('\n\n', `\n\n${note}\n\n`),
  )
}

/** A Redis that ends with this process; undefined where none is installed. */
async function startOwnRedis(): Promise<string | undefined> {
  const port = 20_000 + (process.pid % 20_000)
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  process.once('exit', () => server.kill())
  const failed = once(server, 'error').then(() => undefined)
  const started = (async () => {
    for await (const chunk of server.stdout) {
      if (String(chunk).includes('Ready to accept connections')) break
    }
    return `redis://127.0.0.1:${port}`
  })()
  const url = await Promise.race([started, failed])
  server.unref()
  if (!url) console.log('no redis-server on PATH: without the Redis rows')
  return url
}
