import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, Tally, waitUntil } from '@vinyasa/test-kit'
import { postGraphQL } from '../../e2e/support/demo.ts'
import { UNHEARD } from '../support/gateway.ts'
import { heapOf, type HeapSize } from '../support/heap.ts'
import { freshChange, mutate, now, runDeferrer, runMutator, runReader, send, type World } from './client.ts'
import { startCluster } from './cluster.ts'
import { createFaults, type FaultKind } from './faults.ts'
import { createJournal } from './journal.ts'
import { type LiveClient, startLiveClient } from './live-client.ts'
import { Model } from './model.ts'
import { ALL_READS, COUNT, type Data, readOf, seenIn } from './operations.ts'

export interface ChaosOptions {
  readonly seed: number
  readonly seconds: number
  /** Default 200. */
  readonly clients?: number
  /** Told as it happens. Default: nobody. */
  readonly print?: (line: string) => void
}

export interface ChaosReport {
  readonly seed: number
  readonly seconds: number
  readonly rounds: number
  readonly violations: readonly string[]
  readonly reads: number
  readonly mutations: Model['mutations']
  readonly tally: Tally
  readonly faults: ReadonlyMap<FaultKind, number>
  /** The slowest live client of each round, from the moment of quiet. */
  readonly convergedMs: readonly number[]
  /** Of the gateway that is there from beginning to end, after each round. */
  readonly heaps: readonly HeapSize[]
  /** Messages that gateways logged as errors. */
  readonly logged: ReadonlyMap<string, number>
}

const STORM_MS = 25_000
/** Every live client shows the truth within this long of quiet. */
const CONVERGE_MS = 5_000
/** Heap after garbage collection, between the first third and the end: caches that fill up, not leaks. */
const MAX_HEAP_GROWTH = 1.15

/** Two gateways, one Redis, two backends, many clients; storms of faults with quiet between, and a model of the truth. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, seconds, clients = 200, print = () => {} } = options
  const cluster = await startCluster()
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  const model = new Model()
  const tally = new Tally()
  const world: World = { cluster, model, tally, stop: stop.signal, isQuiet: false, mutating: 0 }
  const readJournal = createJournal(model, {
    users: cluster.users.stateFile,
    shop: cluster.shop.stateFile,
  })
  const faults = createFaults(cluster, seed)
  const convergedMs: number[] = []
  const heaps: HeapSize[] = []
  let rounds = 0
  const crashed: unknown[] = []
  const onRejection = (error: unknown): void => void crashed.push(error)
  process.on('unhandledRejection', onRejection)
  try {
    await seedModel(model, cluster.slots[0].url)
    const live = startClients(world, seed, clients)
    const endAt = performance.now() + seconds * 1_000
    do {
      const left = endAt - performance.now()
      // No last round that is hardly one.
      const stormMs = left < 1.5 * STORM_MS ? left : STORM_MS
      await faults.storm(performance.now() + stormMs)
      convergedMs.push(await becomeQuiet(world, live.clients, readJournal))
      await sweep(world)
      readJournal()
      model.judge()
      heaps.push(await heapOf(cluster.slots[0].process))
      rounds++
      print(
        `round ${rounds}: ${model.reads} reads, ${model.mutations.ok} mutations, ${tally.of('live updates')} live updates, ` +
          `converged in ${Math.round(convergedMs.at(-1)!)} ms, heap ${heaps.at(-1)!.heapMb.toFixed(1)} MB, ` +
          `${model.violations.length} violations`,
      )
      world.isQuiet = false
    } while (performance.now() < endAt - 1_000)
    stop.abort()
    await live.done
    checkHeap(model, heaps)
    for (const error of crashed) model.violate(`the run itself: ${String(error)}`)
    for (const exit of cluster.badExits) model.violate(`exit: ${exit}`)
    for (const { lines } of cluster.gateways)
      for (const line of lines) if (line.includes(UNHEARD)) model.violate(line)
  } finally {
    stop.abort()
    process.off('unhandledRejection', onRejection)
    await cluster[Symbol.asyncDispose]()
  }
  if (model.violations.length > 0) for (const line of faults.log) print(line)
  return {
    seed,
    seconds,
    rounds,
    violations: model.violations,
    reads: model.reads,
    mutations: model.mutations,
    tally,
    faults: faults.counts,
    convergedMs,
    heaps,
    logged: loggedErrors(cluster.gateways.flatMap(({ lines }) => lines)),
  }
}

async function seedModel(model: Model, url: string): Promise<void> {
  for (const operation of ALL_READS) {
    const { data } = await postGraphQL(`${url}/graphql`, operation.query)
    for (const [key, value] of seenIn(data as Data, operation.id))
      if (!model.keys.includes(key)) model.seed(key, value)
  }
  if (model.keys.length !== 3 * COUNT + 1)
    throw new Error(`Only ${model.keys.join(', ')} could be read at the start`)
}

interface Clients {
  readonly clients: readonly LiveClient[]
  readonly done: Promise<unknown>
}

/** Of ten clients three are live over WebSocket, one over SSE, one changes, one defers, four read. */
function startClients(world: World, seed: number, count: number): Clients {
  const live: LiveClient[] = []
  const others: Promise<void>[] = []
  for (let client = 0; client < count; client++) {
    const random = createRandom(seed, `client ${client}`)
    const role = client % 10
    // Each pair of clients of a role has both users.
    const user = Math.floor(client / 10)
    if (role < 4) live.push(startLiveClient(world, user, random, role < 3 ? 'WebSocket' : 'SSE'))
    else others.push((role === 4 ? runMutator : role === 5 ? runDeferrer : runReader)(world, user, random))
  }
  const ended = others.map((other) =>
    other.catch((error: unknown) => {
      if (!world.stop.aborted) world.model.violate(`the run itself: ${(error as Error).stack}`)
    }),
  )
  return { clients: live, done: Promise.all([...ended, ...live.map(({ done }) => done)]) }
}

/** Ends the changes and waits for the live clients. Returns how long the slowest took. */
async function becomeQuiet(
  world: World,
  live: readonly LiveClient[],
  readJournal: () => void,
): Promise<number> {
  const { model, cluster } = world
  world.isQuiet = true
  await waitUntil(() => world.mutating === 0, { timeoutMs: 25_000, awaited: 'the last answers' })
  await sleep(300)
  readJournal()
  // What a backend did after the gateway had given up is no gateway's fault: another change makes it known.
  for (const key of model.judge()) {
    world.tally.add('changed unseen')
    await mutate(world, 0, 0, freshChange(key))
  }
  readJournal()
  const quietAt = performance.now()
  const behind = (): readonly LiveClient[] =>
    live.filter(
      ({ shown }) => shown === undefined || shown.some(([key, value]) => model.latest(key) !== value),
    )
  await waitUntil(() => behind().length === 0, { timeoutMs: CONVERGE_MS, everyMs: 20 }).catch(() => {})
  const took = performance.now() - quietAt
  for (const client of behind())
    model.violate(`live: not converged ${CONVERGE_MS} ms after quiet: ${client.describe()}`)
  for (const { process, gateway } of cluster.slots)
    if (!process.isRunning()) model.violate(`exit: gateway ${gateway} is not running`)
  return took
}

/** In quiet, both gateways give the truth to everybody. */
async function sweep(world: World): Promise<void> {
  const { model } = world
  for (const slot of [0, 1]) {
    for (const client of [0, 1]) {
      for (const key of model.keys) {
        const before = model.latest(key)
        // Told as if this gateway had answered the last change: from here on nothing older is right.
        const { gateway } = world.cluster.slots[slot as 0 | 1]
        model.require(gateway, key, now() - 1)
        await send(world, client, slot, readOf(key))
        if (before !== model.latest(key)) model.violate(`the run itself: ${key} changed in quiet`)
      }
    }
  }
}

function checkHeap(model: Model, heaps: readonly HeapSize[]): void {
  const after = heaps[Math.ceil(heaps.length / 3) - 1]?.heapMb
  const end = heaps.at(-1)?.heapMb
  if (heaps.length < 3 || after === undefined || end === undefined) return
  if (end > after * MAX_HEAP_GROWTH)
    model.violate(`heap: ${after.toFixed(1)} MB after the first third, ${end.toFixed(1)} MB at the end`)
}

function loggedErrors(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) {
    const isJson = line.startsWith('{')
    if (line.startsWith('heap-probe')) continue
    const {
      level = 60,
      msg = line,
      err,
    } = (isJson ? JSON.parse(line) : {}) as {
      level?: number
      msg?: string
      err?: { message?: string }
    }
    if (level < 40) continue
    const text = `${level} ${msg}${err?.message ? `: ${err.message}` : ''}`.slice(0, 160)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
}
