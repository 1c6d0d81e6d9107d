// What it costs that workers share a port, by the way in which they do: connections handed out by the first process, one after
// the other (`round robin`, Node's default and the gateway's); taken from one queue by whoever is first (`shared queue`,
// NODE_CLUSTER_SCHED_POLICY=none); or a queue for each worker, filled by the kernel (`reusePort`, Node 23.1 and newer). The CPU
// is that of all processes together, the first one among them. Reads /proc: Linux only.
import { deepStrictEqual } from 'node:assert'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { freePort, spawnProcess, waitUntil } from '@vinyasa/test-kit'
import { type BenchRequest, findLoadGenerator, markdownTable, spreadOf, writeSection } from './src/index.ts'
import { usageOf } from './src/process-usage.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '32' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 5))
const seconds = Number(values.seconds ?? (smoke ? 1 : 3))
const connections = Number(values.connections)
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const load = await findLoadGenerator()

const GATEWAY = 'vinyasa start'
const FLOOR = 'node:http'
type Sharing = 'round robin' | 'shared queue' | 'reusePort'

interface Contender {
  readonly server: typeof GATEWAY | typeof FLOOR
  readonly sharing: Sharing
  readonly workers: number
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const hasReusePort = major > 23 || (major === 23 && minor >= 1)
const ways: readonly Sharing[] = ['round robin', 'shared queue']
const contenders: readonly Contender[] = [
  // Alone it shares with nobody.
  { server: GATEWAY, sharing: 'round robin', workers: 1 },
  ...ways.map((sharing) => ({ server: GATEWAY, sharing, workers: 2 }) as const),
  ...[...ways, ...(hasReusePort ? (['reusePort'] as const) : [])].map(
    (sharing) => ({ server: FLOOR, sharing, workers: 2 }) as const,
  ),
]

const request: BenchRequest = { path: '/graphql', body: JSON.stringify({ query: '{ hello }' }) }
const LOADS: Readonly<Record<string, BenchRequest>> = {
  'kept connections': request,
  'a connection each': { ...request, headers: { connection: 'close' } },
}

interface Sample {
  readonly cpuMicros: number
  readonly firstMicros: number
  readonly perSecond: number
  /** Of all that the workers used, what the busiest one did. */
  readonly busiest: number
}

interface Running {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** Whether they all do next to nothing for a second. */
async function isQuiet(pids: readonly number[]): Promise<boolean> {
  const used = (): number => pids.reduce((sum, pid) => sum + usageOf(pid).cpuMs, 0)
  const before = used()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return used() - before < 100
}

async function start({ server, sharing, workers }: Contender): Promise<Running> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const started = await spawnProcess({
    command: process.execPath,
    args:
      server === FLOOR
        ? [path('contenders/cluster-floor.mjs')]
        : [
            path('../../apps/gateway/dist/main.js'),
            'start',
            '--config',
            path('contenders/gateway.config.mjs'),
            '--preset',
            'production',
            '--port',
            String(port),
            '--workers',
            String(workers),
          ],
    env: {
      NODE_ENV: 'production',
      BENCH_SCHEMA: 'hello',
      BENCH_LOG: 'silent',
      BENCH_PORT: String(port),
      BENCH_WORKERS: String(workers),
      BENCH_SHARING: sharing === 'shared queue' ? 'none' : sharing,
      ...(sharing === 'shared queue' && { NODE_CLUSTER_SCHED_POLICY: 'none' }),
    },
  })
  await waitUntil(async () => (await answerOf(url)) !== undefined, {
    timeoutMs: 30_000,
    awaited: `an answer of ${url}`,
  })
  if (workers > 1)
    await waitUntil(() => childrenOf(started.pid).length === workers, { awaited: `${workers} workers` })
  // The last one has to listen too: it has started when there is nothing left to do.
  await waitUntil(() => isQuiet([started.pid, ...childrenOf(started.pid)]), {
    timeoutMs: 30_000,
    awaited: 'workers that have started',
  })
  return {
    url,
    pid: started.pid,
    async stop() {
      await started.kill('SIGTERM')
      await started[Symbol.asyncDispose]()
    },
  }
}

async function answerOf(url: string): Promise<unknown> {
  const { body, path: pathname } = request
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}${pathname}`, { method: 'POST', body, headers }).catch(() => undefined)
  return response?.ok ? response.json() : undefined
}

async function measure({ url, pid }: Running, of: BenchRequest): Promise<Sample> {
  deepStrictEqual(await answerOf(url), { data: { hello: 'world' } })
  const children = childrenOf(pid)
  const used = (): number[] => [pid, ...children].map((each) => usageOf(each).cpuMs)
  const before = used()
  const { requests, errors, refusals, requestsPerSecond } = await load.send(url, of, { seconds, connections })
  const after = used()
  const failed = errors + refusals
  if (failed > requests / 1000) throw new Error(`${failed} of ${requests} requests failed`)
  const [first = 0, ...rest] = after.map((cpuMs, index) => cpuMs - (before[index] as number))
  const ofWorkers = rest.reduce((sum, cpuMs) => sum + cpuMs, 0)
  return {
    cpuMicros: ((first + ofWorkers) * 1000) / requests,
    firstMicros: (first * 1000) / requests,
    perSecond: requestsPerSecond,
    busiest: rest.length === 0 ? 1 : Math.max(...rest) / ofWorkers,
  }
}

/** Opens connections one after the other and keeps them: how many of a hundred stay at the worker that got the most. */
async function mostOfHundred({ url, pid }: Running): Promise<number> {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  const held = (): number[] => childrenOf(pid).map(openSocketsOf)
  const before = held()
  try {
    for (let opened = 0; opened < 100; opened++) {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      sockets.push(socket)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
    return Math.max(0, ...held().map((count, at) => count - before[at]!))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

function openSocketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
    } catch {
      // Closed meanwhile.
      return false
    }
  }).length
}

async function sampleOf(contender: Contender): Promise<void> {
  const running = await start(contender)
  const taken = samples.get(contender) ?? { loads: {}, most: [] }
  samples.set(contender, taken)
  try {
    taken.most.push(await mostOfHundred(running))
    for (const [name, of] of Object.entries(LOADS)) {
      if (!smoke) await load.send(running.url, of, { seconds: 3, connections })
      taken.loads[name] = [...(taken.loads[name] ?? []), await measure(running, of)]
    }
  } finally {
    await running.stop()
  }
}

const samples = new Map<Contender, { readonly loads: Record<string, Sample[]>; readonly most: number[] }>()
for (let round = 1; round <= rounds; round++) {
  // One at a time: workers that wait are not idle, as they are asked whether they live.
  for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) await sampleOf(contender)
  console.log(`round ${round} of ${rounds}`)
}

const rows = contenders.flatMap((contender) =>
  Object.entries(samples.get(contender)?.loads ?? {}).map(([name, taken]) => {
    const of = (pick: (sample: Sample) => number): number => spreadOf(taken.map(pick)).median
    const cpu = spreadOf(taken.map(({ cpuMicros }) => cpuMicros))
    return [
      contender.server,
      String(contender.workers),
      contender.workers === 1 ? '–' : contender.sharing,
      name,
      `${cpu.median.toFixed(0)} (${cpu.min.toFixed(0)}–${cpu.max.toFixed(0)})`,
      of(({ firstMicros }) => firstMicros).toFixed(1),
      of(({ perSecond }) => perSecond).toFixed(0),
      `${(100 * of(({ busiest }) => busiest)).toFixed(0)} %`,
      contender.workers === 1 ? '–' : spreadOf(samples.get(contender)?.most ?? []).median.toFixed(0),
    ]
  }),
)
const head = [
  'server',
  'workers',
  'port shared by',
  'load',
  'CPU µs a request, all processes',
  'of the first process',
  'requests/s',
  "busiest worker's share of the CPU",
  'of 100 kept connections that come one by one, the most at one worker',
]
const command = ['pnpm bench:workers', ...process.argv.slice(2)].join(' ')
const day = new Date().toISOString().slice(0, 10)
const text = `## Workers that share a port

${day}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load by ${load.name} on ${connections} connections beside them. \`${command}\`, medians of ${rounds} interleaved rounds (least–most). Hello, no log.

${markdownTable(head, rows)}
`
console.log(`\n${text}`)
if (write) await writeSection(new URL('RESULTS.md', import.meta.url), 'workers', text)
