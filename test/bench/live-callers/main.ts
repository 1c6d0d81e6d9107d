// Live queries whose callers each have a token of their own, on one gateway as its users start it: what runs, what is called, and
// when the last one has been told. Reads /proc: Linux only.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { markdownTable, spreadOf, writeSection } from '../src/index.ts'
import { machineOf } from '../src/machine.ts'
import { usageOf } from '../src/process-usage.ts'
import { startGateway } from '../src/start-gateway.ts'
import { percentile } from '../src/statistics.ts'
import { Subscriber, tokenOf } from './subscribers.ts'

const { values } = parseArgs({
  options: {
    subscribers: { type: 'string' },
    scenario: { type: 'string' },
    events: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const count = Number(values.subscribers ?? (smoke ? 100 : 10_000))
const events = Number(values.events ?? (smoke ? 2 : 5))
const DOCUMENTS = Math.min(500, count / 5)
const SECRET = 'a secret of the benchmark that is long enough'

interface Scenario {
  readonly name: string
  /** Tokens that the subscribers share. */
  readonly tokens: number
  /** The backend gets the token, so that no call is another caller's. */
  readonly isForwarded?: boolean
}

/** Each subject's token: another one would be another caller. */
const known = new Map<string, string>()
function tokenFor(subject: string): string {
  const token = known.get(subject) ?? tokenOf(subject, SECRET)
  known.set(subject, token)
  return token
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'one token for all', tokens: 1, isForwarded: true },
  { name: 'a token each, not forwarded', tokens: count },
  { name: 'a token each, forwarded', tokens: count, isForwarded: true },
]
const scenarios = SCENARIOS.filter(({ name }) => name === (values.scenario ?? name))

interface Sample {
  readonly told: number
  readonly calls: number
  readonly firstMs: number
  readonly medianMs: number
  readonly lastMs: number
  readonly cpuMs: number
  /** Milliseconds that somebody else's plain queries took meanwhile. */
  readonly besides: readonly number[]
}

interface Running {
  readonly subscribers: readonly Subscriber[]
  /** Changes all items, and says so of one, or of all. */
  change(entityId?: string): Promise<Sample>
}

async function startBackend(): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = fork(fileURLToPath(new URL('backend.mjs', import.meta.url)))
  const [{ url }] = (await once(child, 'message')) as [{ readonly url: string }]
  return { url, child }
}

/** Asks the gateway for one item all the time; returns how long its queries took since the last time. */
function startProber(
  url: string,
  token: string,
): { readonly child: ChildProcess; delays(): Promise<number[]> } {
  const env = {
    PROBER_URL: `${url}/graphql`,
    PROBER_TOKEN: token,
    PROBER_QUERY: '{ item(id: "besides") { id value } }',
  }
  const child = fork(fileURLToPath(new URL('prober.mjs', import.meta.url)), {
    env: { ...process.env, ...env },
  })
  return {
    child,
    async delays() {
      child.send({})
      const [{ delays }] = (await once(child, 'message')) as [{ readonly delays: number[] }]
      return delays
    },
  }
}

/** Tells the backend of another value, and how often it was called since the last time. */
async function callsOf(child: ChildProcess, value?: number): Promise<number> {
  child.send({ value })
  const [{ calls }] = (await once(child, 'message')) as [{ readonly calls: number }]
  return calls
}

async function measure({ tokens, isForwarded = false }: Scenario) {
  const { use, dispose } = createDisposables()
  try {
    const { url: backendUrl, child } = await startBackend()
    use(() => void child.kill('SIGKILL'))
    const { url, pid } = use(
      await startGateway(fileURLToPath(new URL('callers.config.mjs', import.meta.url)), {
        CALLERS_BACKEND: backendUrl,
        CALLERS_SECRET: SECRET,
        CALLERS_FORWARD: isForwarded ? 'yes' : '',
      }),
    )
    const subscribers: Subscriber[] = []
    use(() => {
      for (const { socket } of subscribers) socket.terminate()
    })
    const connect = async (upTo: number): Promise<void> => {
      while (subscribers.length < upTo) {
        const size = Math.min(20, upTo - subscribers.length)
        const more = Array.from({ length: size }, (_, offset) => {
          const index = subscribers.length + offset
          const subject = `user ${index % tokens}`
          return new Subscriber({
            url: `${url.replace('http', 'ws')}/graphql/live`,
            index,
            token: tokenFor(subject),
            subject: isForwarded ? subject : '',
            document: index % DOCUMENTS,
          })
        })
        subscribers.push(...more)
        await Promise.all(more.map(({ ready }) => ready))
      }
    }
    // What is loaded and compiled for the first is no other's memory.
    await connect(count / 10)
    await sleep(2_000)
    const few = usageOf(pid).rssBytes
    const beganAt = performance.now()
    await connect(count)
    const connectMs = performance.now() - beganAt
    await sleep(2_000)
    const kilobytes = (usageOf(pid).rssBytes - few) / 1024 / (count - count / 10)
    const prober = startProber(url, tokenFor('somebody else'))
    use(() => void prober.child.kill('SIGKILL'))
    const change = changeOf(url, pid, child, subscribers, prober.delays)
    await change()
    await prober.delays()
    await sleep(2_000)
    const alone = await prober.delays()
    const everything: Sample[] = []
    const one: Sample[] = []
    for (let event = 0; event < events; event++) {
      everything.push(await change())
      one.push(await change(String((event * 7) % DOCUMENTS)))
    }
    return { everything, one, alone, kilobytes, perSecond: ((count - count / 10) / connectMs) * 1000 }
  } finally {
    await dispose()
  }
}

function changeOf(
  url: string,
  pid: number,
  backend: ChildProcess,
  subscribers: readonly Subscriber[],
  besides: () => Promise<readonly number[]>,
): Running['change'] {
  let value = 0
  return async (entityId) => {
    const told = subscribers.filter(({ document }) => entityId === undefined || String(document) === entityId)
    await callsOf(backend, ++value)
    for (const subscriber of subscribers) subscriber.updates = 0
    await besides()
    const [cpuMs, beganAt] = [usageOf(pid).cpuMs, performance.now()]
    const answer = await fetch(`${url}/invalidate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-invalidate-secret': SECRET },
      body: JSON.stringify([{ entityType: 'Item', operation: 'update', ...(entityId && { entityId }) }]),
    })
    if (!answer.ok) throw new Error(`The gateway answered ${answer.status}: ${await answer.text()}`)
    await waitUntil(() => told.every((subscriber) => subscriber.value === value), {
      timeoutMs: 120_000,
      awaited: 'the last one to be told',
    })
    const usedMs = usageOf(pid).cpuMs - cpuMs
    const delays = told.map(({ at }) => at - beganAt)
    return {
      told: subscribers.reduce((sum, { updates }) => sum + updates, 0),
      calls: await callsOf(backend),
      firstMs: Math.min(...delays),
      medianMs: percentile(delays, 0.5),
      lastMs: Math.max(...delays),
      cpuMs: usedMs,
      besides: await besides(),
    }
  }
}

const times = (all: readonly number[]): string =>
  [percentile(all, 0.5), percentile(all, 0.99), Math.max(...all)].map((ms) => ms.toFixed(0)).join(', ')

const rows: string[][] = []
for (const scenario of scenarios) {
  const { everything, one, alone, kilobytes, perSecond } = await measure(scenario)
  for (const [what, samples] of Object.entries({ 'all items': everything, 'one item': one })) {
    const of = (pick: (sample: Sample) => number, digits = 0): string => {
      const { median, min, max } = spreadOf(samples.map(pick))
      return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
    }
    const row = [
      scenario.name,
      what,
      spreadOf(samples.map(({ told }) => told)).median.toFixed(0),
      of(({ calls }) => calls),
      of(({ firstMs }) => firstMs),
      of(({ medianMs }) => medianMs),
      of(({ lastMs }) => lastMs),
      of(({ told, lastMs }) => (told / lastMs) * 1000),
      what === 'all items' ? of(({ cpuMs, told }) => (cpuMs * 1000) / told) : '–',
      what === 'all items' ? `${times(samples.flatMap(({ besides }) => besides))} (${times(alone)})` : '–',
      kilobytes.toFixed(1),
      perSecond.toFixed(0),
    ]
    rows.push(row)
    console.log(row.join(' | '))
  }
}

const command = ['pnpm bench:live-callers', ...process.argv.slice(2)].join(' ')
const text = `## Live with many callers

${machineOf()}. \`${command}\`: ${count} sockets, each from an address of its own, each with one of ${DOCUMENTS}
documents, which each ask for one item over REST, while somebody else asks plain queries, one each 20 ms; medians of ${events} events (least–most). The gateway, its backend and the clients share the machine.

${markdownTable(
  [
    'callers',
    'what changed',
    'updates sent',
    'calls of the backend',
    'first told, ms',
    'half told, ms',
    'last told, ms',
    'updates/s',
    'CPU µs an update',
    'others’ queries meanwhile (without), ms: p50, p99, worst',
    'kB a subscriber',
    'subscribers that came/s',
  ],
  rows,
)}
`
console.log(`\n${text}`)
if (write) await writeSection(new URL('../RESULTS.md', import.meta.url), 'live-callers', text)
