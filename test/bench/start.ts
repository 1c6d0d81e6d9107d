// What a start costs: the built gateway on the demo's config, from the start of its process to its first right answer,
// and its memory when nobody has asked for anything more. `pnpm bench:start [--smoke] [--write]`
import { rm } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { spawnProcess, type SpawnedProcess, waitUntil } from '@vinyasa/test-kit'
import { usageOf } from './src/process-usage.ts'
import { spreadOf, writeSection } from './src/index.ts'
import { versionOf } from './src/versions.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    idle: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 7))
/** Seconds between the first answer and the look at the memory. */
const idle = Number(values.idle ?? (smoke ? 0 : 10))

const path = (relative: string): string => fileURLToPath(new URL(`../../${relative}`, import.meta.url))
const GATEWAY = path('apps/gateway/dist/main.js')
const CONFIG = path('apps/gateway/gateway.config.ts')
const KEPT = path('apps/gateway/node_modules/.cache/vinyasa')
const TARGET = { readyMs: 1500, rssMb: 120 }

/** On one core, of a gateway that has as many root fields. */
const FIELDS_TARGETS = [
  { fields: 0, readyMs: 800, rssMb: 110 },
  { fields: 300, readyMs: 1000, rssMb: 130 },
  { fields: 2000, readyMs: 1800, rssMb: 200 },
]

interface Contender {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly isOnOneCore?: boolean
  /** Its first group is the address. */
  readonly listens: RegExp
  readonly question: string
  readonly before?: () => Promise<void>
}

const start = ['start', '--config', CONFIG, '--port', '0']
const gateway = {
  args: [GATEWAY, ...start],
  listens: /(http:\/\/[^\s"]+)\/graphql/,
  question: '/health/ready',
}
const program = (name: string, file: string, question = '/graphql?query={hello}'): Contender => ({
  name,
  args: [path(`test/bench/contenders/${file}`)],
  listens: /listening on (\S+)/,
  question,
})
const withFields = (fields: number): string => `gateway, ${fields} root fields, on one core`
const contenders: readonly Contender[] = [
  // Leaves the compiled config for the next.
  {
    name: 'gateway, first start: the config is compiled',
    ...gateway,
    before: () => rm(KEPT, { recursive: true, force: true }),
  },
  { name: 'gateway', ...gateway },
  ...FIELDS_TARGETS.map(({ fields }) => ({
    name: withFields(fields),
    args: [GATEWAY, 'start', '--config', path('test/bench/contenders/fields.config.mjs'), '--port', '0'],
    env: { BENCH_FIELDS: String(fields) },
    isOnOneCore: true,
    listens: gateway.listens,
    question: '/graphql?query={hello}',
  })),
  program('Yoga by hand, the demo in short', 'start-by-hand.mjs', '/graphql?query={user(id:"1"){name}}'),
  program('Yoga, hello', 'start-yoga.mjs'),
  program('Mercurius + JIT, hello', 'start-mercurius.mjs'),
  program('node:http floor', 'start-floor.mjs'),
]

interface Sample {
  readonly readyMs: number
  readonly cpuMs: number
  readonly rssMb: number
}

async function isRight(url: string): Promise<boolean> {
  const headers = { 'x-graphql-csrf': '1' }
  const response = await fetch(url, { headers }).catch(() => undefined)
  const text = await response?.text()
  return response?.ok === true && text?.includes('"errors"') === false
}

async function measure(
  { args, env: own, isOnOneCore, listens, question, before }: Contender,
  shared: Readonly<Record<string, string>>,
): Promise<{ process: SpawnedProcess; sample: Promise<Sample> }> {
  await before?.()
  const startedAt = performance.now()
  const [command = '', ...given] = [...(isOnOneCore ? ['taskset', '-c', '0'] : []), process.execPath, ...args]
  const process_ = await spawnProcess({ command, args: given, env: { ...shared, ...own }, ready: listens })
  const url = `${process_.ready?.[1]}${question}`
  await waitUntil(() => isRight(url), { timeoutMs: 30_000, awaited: `an answer of ${url}` })
  const readyMs = performance.now() - startedAt
  const { cpuMs } = usageOf(process_.pid)
  return {
    process: process_,
    sample: new Promise((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve({ readyMs, cpuMs, rssMb: usageOf(process_.pid).rssBytes / 2 ** 20 })
        } catch (error) {
          reject(error as Error)
        }
      }, idle * 1000)
    }),
  }
}

/** Milliseconds of a command that does nothing. */
async function measureVersion(): Promise<number> {
  const startedAt = performance.now()
  const { exited, output } = await spawnProcess({ command: process.execPath, args: [GATEWAY, '--version'] })
  const { code } = await exited
  if (code !== 0) throw new Error(`vinyasa --version ended with ${code}:\n${output()}`)
  return performance.now() - startedAt
}

const users = await spawnProcess({
  command: process.execPath,
  args: [path('apps/demo-users/dist/main.js')],
  env: { PORT: '0', HOST: '127.0.0.1' },
  ready: /ready: grpc:\/\/(\S+)/,
})
const shop = await spawnProcess({
  command: process.execPath,
  args: [path('apps/demo-shop/dist/main.js')],
  env: { PORT: '0', HOST: '127.0.0.1' },
  ready: /ready: (http:\S+)/,
})
const env = { USERS_ADDRESS: users.ready?.[1] ?? '', SHOP_URL: shop.ready?.[1] ?? '' }
const samples = new Map<string, Sample[]>(contenders.map(({ name }) => [name, []]))
const versionMs: number[] = []
try {
  for (let round = 0; round < rounds; round++) {
    // One starts after the other; then they are idle beside each other.
    const running: {
      readonly name: string
      readonly process: SpawnedProcess
      readonly sample: Promise<Sample>
    }[] = []
    try {
      for (const contender of contenders)
        running.push({ name: contender.name, ...(await measure(contender, env)) })
      versionMs.push(await measureVersion())
      for (const { name, sample } of running) samples.get(name)?.push(await sample)
    } finally {
      await Promise.all(running.map(({ process: started }) => started.kill('SIGKILL')))
    }
  }
} finally {
  await Promise.all([users.kill(), shop.kill()])
}

const of = (name: string, pick: (sample: Sample) => number) => spreadOf((samples.get(name) ?? []).map(pick))
const cell = ({ median, min, max }: ReturnType<typeof of>): string =>
  `${median.toFixed(0)} (${min.toFixed(0)}–${max.toFixed(0)})`
const rows = contenders.map(({ name }) => {
  const figures = [of(name, (s) => s.readyMs), of(name, (s) => s.cpuMs), of(name, (s) => s.rssMb)]
  return `| ${name} | ${figures.map(cell).join(' | ')} |`
})
const verdict = (seen: number, atMost: number): string => (seen <= atMost ? 'met' : '**missed**')
const aims = [
  ...contenders.slice(0, 2).map(({ name }) => ({ name, ...TARGET })),
  ...FIELDS_TARGETS.map(({ fields, ...aim }) => ({ name: withFields(fields), ...aim })),
]
const targets = aims.flatMap(({ name, readyMs, rssMb }) => {
  const ready = of(name, (s) => s.readyMs).median
  const rss = of(name, (s) => s.rssMb).median
  return [
    `| ${name}: ready in ≤ ${readyMs} ms | ${ready.toFixed(0)} | ${verdict(ready, readyMs)} |`,
    `| ${name}: ≤ ${rssMb} MB idle | ${rss.toFixed(0)} | ${verdict(rss, rssMb)} |`,
  ]
})
const versions = ['graphql-yoga', 'mercurius', 'graphql', '@grpc/grpc-js']
  .map((name) => `${name} ${versionOf(name, import.meta.url)}`)
  .join(', ')
const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()} (load ${loadavg()[1]?.toFixed(1)})`
const text = `## Start

${new Date().toISOString().slice(0, 10)}, ${machine}, ${versions}. Medians of ${rounds} interleaved rounds (least–most), from the start of the process to its first right answer; memory ${idle} s later. \`pnpm bench:start\`

| | ms to ready | CPU ms to ready | RSS MB idle |
| --- | --: | --: | --: |
${rows.join('\n')}

\`vinyasa --version\` takes ${cell(spreadOf(versionMs))} ms.

| target | seen | |
| --- | --: | --- |
${targets.join('\n')}`
console.log(text)
if (write) await writeSection(new URL('RESULTS.md', import.meta.url), 'start', text)
