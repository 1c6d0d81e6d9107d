// Live queries: N subscribers × M distinct queries × payload × rate, ours beside @envelop/live-query and bare ws.
// `pnpm bench:live [--smoke] [--write] [--repo ../before]`, `--repo`: ours beside ours of another checkout, which must be built too.
import { fork, type ChildProcess } from 'node:child_process'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import type { LiveCommand, LiveUsage } from './contenders/live-feed.ts'
import { writeSection } from './src/results-file.ts'
import { median } from './src/statistics.ts'
import { versionsOf } from './src/versions.ts'

interface Scenario {
  readonly name: string
  readonly clients: number
  readonly queries: number
  readonly payloadBytes: number
  readonly eventsPerSecond: number
  readonly seconds: number
  readonly contenders: readonly Contender[]
}

type Contender = 'floor' | 'vinyasa' | 'envelop' | 'vinyasa, there'

interface Figures {
  readonly p50: number
  readonly p99: number
  readonly cpuPerMessage: number
  readonly executionsPerEvent: number
  readonly kilobytesPerClient: number
  readonly lost: number
  readonly messages: number
}

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    repo: { type: 'string' },
    rounds: { type: 'string' },
    scenario: { type: 'string', multiple: true },
  },
})
const rounds = Number(values.rounds ?? (values.smoke ? 1 : 3))

const there = values.repo && join(resolve(values.repo), 'test/bench/contenders/live-vinyasa.ts')
const all: readonly Contender[] = there
  ? ['floor', 'vinyasa, there', 'vinyasa']
  : ['floor', 'vinyasa', 'envelop']
const full: readonly Scenario[] = [
  {
    name: 'shared 1 kB',
    clients: 1000,
    queries: 1,
    payloadBytes: 1000,
    eventsPerSecond: 10,
    seconds: 4,
    contenders: all,
  },
  {
    name: 'shared 20 kB',
    clients: 500,
    queries: 1,
    payloadBytes: 20_000,
    eventsPerSecond: 5,
    seconds: 4,
    contenders: all,
  },
  {
    name: '100 queries',
    clients: 1000,
    queries: 100,
    payloadBytes: 1000,
    eventsPerSecond: 5,
    seconds: 4,
    contenders: all,
  },
  {
    name: '10,000 clients',
    clients: 10_000,
    queries: 1,
    payloadBytes: 1000,
    eventsPerSecond: 0.5,
    seconds: 6,
    contenders: all.filter((contender) => contender !== 'envelop'),
  },
]
const scenarios = (
  values.smoke
    ? full.map((scenario) => ({ ...scenario, clients: 50, eventsPerSecond: 10, seconds: 1 }))
    : full
).filter(({ name }) => values.scenario?.includes(name) ?? true)

class Client {
  readonly socket: WebSocket
  readonly delays: number[] = []
  last = -1
  messages = 0
  onFirst: () => void = () => {}
  constructor(url: string, key: number) {
    this.socket = new WebSocket(url, 'graphql-transport-ws', { perMessageDeflate: false })
    this.socket.on('open', () => this.socket.send('{"type":"connection_init"}'))
    this.socket.on('error', () => {})
    this.socket.on('message', (data: Buffer) => this.#receive(data, key))
  }

  #receive(data: Buffer, key: number): void {
    const now = performance.timeOrigin + performance.now()
    const text = data.toString('latin1')
    if (text.includes('"connection_ack"')) {
      const query = 'query ($key: Int) @live { feed(key: $key) { n at items { id name } } }'
      return this.socket.send(
        JSON.stringify({ id: `q${key}`, type: 'subscribe', payload: { query, variables: { key } } }),
      )
    }
    const found = /"n":(\d+),"at":([\d.]+)/.exec(text)
    if (!found) throw new Error(`Expected an update, got ${text.slice(0, 300)}`)
    if (this.last >= 0) {
      this.messages += 1
      this.delays.push(now - Number(found[2]))
    }
    this.last = Number(found[1])
    this.onFirst()
  }
}

async function measure(contender: Contender, scenario: Scenario): Promise<Figures> {
  const { clients: count, queries, payloadBytes, eventsPerSecond, seconds } = scenario
  const here = fileURLToPath(new URL(`contenders/live-${contender}.ts`, import.meta.url))
  const child = fork(there && contender === 'vinyasa, there' ? there : here, {
    execArgv: ['--expose-gc', '--import', 'jiti/register'],
    env: { ...process.env, NODE_ENV: 'production', LIVE_PAYLOAD_BYTES: String(payloadBytes) },
  })
  try {
    const { url } = await nextMessage<{ url: string }>(child)
    // One client first: what is loaded and compiled on the first connection is no client's memory.
    const clients = [await open(url, 0)]
    const empty = await usageOf(child, 'memory')
    while (clients.length < count) {
      const size = Math.min(100, count - clients.length)
      const from = clients.length
      clients.push(
        ...(await Promise.all(Array.from({ length: size }, (_, n) => open(url, (from + n) % queries)))),
      )
    }
    await pause(500)
    const connected = await usageOf(child, 'memory')
    let n = 0
    // Warm-up, not counted.
    for (; n < (values.smoke ? 2 : 5);) await event(child, ++n, clients, 10_000)
    for (const client of clients) {
      client.messages = 0
      client.delays.length = 0
    }
    const before = await usageOf(child)
    const events = Math.max(3, Math.round(eventsPerSecond * seconds))
    for (let sent = 0; sent < events; sent++) {
      send(child, { type: 'event', n: ++n })
      await pause(1000 / eventsPerSecond)
    }
    await until(() => clients.every(({ last }) => last === n), 10_000)
    const after = await usageOf(child)
    const delays = clients.flatMap((client) => client.delays).sort((a, b) => a - b)
    const messages = clients.reduce((sum, client) => sum + client.messages, 0)
    const figures = {
      p50: delays[Math.floor(delays.length * 0.5)] ?? Number.NaN,
      p99: delays[Math.floor(delays.length * 0.99)] ?? Number.NaN,
      cpuPerMessage: (after.cpuMicros - before.cpuMicros) / Math.max(1, messages),
      executionsPerEvent: (after.executions - before.executions) / events,
      kilobytesPerClient: (connected.rssBytes - empty.rssBytes) / 1024 / Math.max(1, count - 1),
      // What the last value of a client does not show; merged updates are no loss.
      lost: clients.filter(({ last }) => last !== n).length,
      messages: messages / events / count,
    }
    for (const { socket } of clients) socket.terminate()
    return figures
  } finally {
    child.kill('SIGKILL')
  }
}

async function event(
  child: ChildProcess,
  n: number,
  clients: readonly Client[],
  timeoutMs: number,
): Promise<void> {
  send(child, { type: 'event', n })
  await until(() => clients.every(({ last }) => last === n), timeoutMs)
}

function open(url: string, key: number): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new Client(url, key)
    client.onFirst = () => resolve(client)
    client.socket.once('close', (code) => reject(new Error(`A socket was closed with ${code}`)))
  })
}

function send(child: ChildProcess, command: LiveCommand): void {
  child.send(command)
}

function usageOf(child: ChildProcess, type: 'usage' | 'memory' = 'usage'): Promise<LiveUsage> {
  const answer = nextMessage<LiveUsage>(child)
  send(child, { type })
  return answer
}

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('A contender said nothing for 120 s')), 120_000)
    child.once('message', (message) => {
      clearTimeout(timer)
      resolve(message as T)
    })
  })
}

async function until(look: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!look() && performance.now() < deadline) await pause(20)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

const lines: string[] = [
  '| scenario | contender | p50 ms | p99 ms | CPU µs a message | × the floor | executions an event | kB a client | messages an event and client | clients left behind |',
  '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
]
const targets: string[] = []
for (const scenario of scenarios) {
  const seen = new Map<Contender, Figures[]>()
  for (let round = 0; round < rounds; round++) {
    for (const contender of scenario.contenders) {
      const figures = await measure(contender, scenario)
      console.log(`${scenario.name}, round ${round + 1}, ${contender}: ${JSON.stringify(figures)}`)
      seen.set(contender, [...(seen.get(contender) ?? []), figures])
    }
  }
  const middle = (contender: Contender, pick: (figures: Figures, round: number) => number): number =>
    median((seen.get(contender) ?? []).map((figures, round) => pick(figures, round)))
  const ratioOf = (contender: Contender): number =>
    middle(
      contender,
      (figures, round) => figures.cpuPerMessage / (seen.get('floor')?.[round]?.cpuPerMessage ?? Number.NaN),
    )
  for (const contender of scenario.contenders) {
    const of = (pick: (figures: Figures) => number, digits = 1): string =>
      middle(contender, pick).toFixed(digits)
    lines.push(
      `| ${scenario.name} (${scenario.clients} clients, ${scenario.eventsPerSecond} events/s) | ${contender} | ${of((f) => f.p50)} | ${of((f) => f.p99)} | ${of((f) => f.cpuPerMessage)} | ${ratioOf(contender).toFixed(2)} | ${of((f) => f.executionsPerEvent)} | ${of((f) => f.kilobytesPerClient)} | ${of((f) => f.messages, 2)} | ${of((f) => f.lost, 0)} |`,
    )
  }
  const ours = (pick: (figures: Figures) => number): number => middle('vinyasa', pick)
  const target = (what: string, value: number, most: number): void =>
    void targets.push(
      `- ${scenario.name}: ${what} ${value.toFixed(2)}, at most ${most}: ${value <= most ? 'met' : 'MISSED'}`,
    )
  if (scenario.queries === 1 && scenario.clients <= 1000)
    target('CPU a message × the floor', ratioOf('vinyasa'), 1.5)
  if (scenario.clients === 1000)
    target(
      'p99 ms',
      ours((f) => f.p99),
      100,
    )
  if (scenario.clients === 10_000)
    target(
      'kB a client',
      ours((f) => f.kilobytesPerClient),
      35,
    )
  target(
    'clients left behind',
    ours((f) => f.lost),
    0,
  )
}
const text = `## Live queries\n\n${lines.join('\n')}\n\n${targets.join('\n')}\n`
console.log(`\n${text}`)
if (values.smoke) console.log('smoke run: everything ran; its figures mean nothing')
if (values.write) {
  const versions = versionsOf(['ws', 'graphql', 'graphql-yoga', '@envelop/live-query'], import.meta.url)
  const machine = `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${rounds} rounds, ${JSON.stringify(versions)}. \`pnpm bench:live --write\``
  await writeSection(
    new URL('RESULTS.md', import.meta.url),
    'live',
    text.replace('\n\n', `\n\n${machine}\n\n`),
  )
}
process.exit(0)
