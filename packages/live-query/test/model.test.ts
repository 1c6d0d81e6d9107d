import { createFakeClock } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createLiveQueryStore } from '../src/index.ts'
import type { LivePlan } from '../src/document/live-plan.ts'
import type { LiveQueryChannel, LiveQuerySubscription } from '../src/store/subscriber.ts'
import type { LiveQueryStrategy } from '../src/options.ts'

/** How many random steps: events, joins, leaves, failures, stalls and waits. `LIVE_MODEL_STEPS=1000000` for the full run. */
const STEPS = Number(process.env['LIVE_MODEL_STEPS'] ?? 30_000)
const SEED = Number(process.env['LIVE_MODEL_SEED'] ?? 1)
const QUERIES = 12

interface Client {
  readonly id: string
  readonly query: number
  /** The truth when it joined: its first value is not older. */
  readonly joinedAt: number
  ready: boolean
  last: number | undefined
  revision: number
  subscription: LiveQuerySubscription | undefined
}

/** Small, seeded, good enough to walk with (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it(`after ${STEPS} random events, joins, leaves, failures and stalls every client's last value is the truth`, async () => {
  const random = createRandom(SEED)
  const pick = (count: number): number => Math.floor(random() * count)
  const clock = createFakeClock()
  const faults: string[] = []
  const errors: unknown[] = []
  const store = createLiveQueryStore({
    platform: { clock, random },
    onError: (error) => errors.push(error),
  })
  const truth = Array.from({ length: QUERIES }, () => 0)
  const runs = Array.from({ length: QUERIES }, () => 0)
  const running = Array.from({ length: QUERIES }, () => 0)
  const failing = new Set<number>()
  const clients = new Map<string, Client>()
  let delivered = 0
  let steps = 0

  const throttles = [0, 100, 100, 300]
  const strategies: LiveQueryStrategy[] = [
    'INVALIDATION',
    'INVALIDATION',
    'INVALIDATION',
    'HASH_DIFF',
    'POLLING',
  ]
  const planOf = (query: number): LivePlan => {
    const strategy = strategies[query % strategies.length]!
    return {
      strategy,
      triggers: strategy === 'INVALIDATION' ? [`T${query}.update`, 'All.*'] : [],
      throttleMs: throttles[query % throttles.length]!,
      pollIntervalMs: 250,
      ttlSeconds: 0,
      volatility: undefined,
      maxConnections: new Map(),
    }
  }

  async function execute(query: number, signal: AbortSignal): Promise<{ data: unknown }> {
    running[query]! += 1
    // Nobody waits for an aborted one: a group made anew may already run again.
    signal.addEventListener('abort', () => running[query]!--)
    if (running[query]! > 1) faults.push(`two executions of query ${query} at one time`)
    runs[query]! += 1
    // The backend answers with what it held at some moment within the call.
    const early = random() < 0.5
    const seen = truth[query]
    const fails = failing.has(query)
    await new Promise<void>((resolve) => clock.setTimeout(resolve, pick(80)))
    if (!signal.aborted) running[query]! -= 1
    if (fails) throw new Error('the backend is away')
    return { data: { value: early ? seen : truth[query] } }
  }

  function join(): void {
    const query = pick(QUERIES)
    const client: Client = {
      id: `c${steps}`,
      query,
      joinedAt: strategies[query % strategies.length] === 'INVALIDATION' ? truth[query]! : 0,
      ready: true,
      last: undefined,
      revision: 0,
      subscription: undefined,
    }
    const channel: LiveQueryChannel = {
      ready: () => client.ready,
      next({ version, revision, base }) {
        delivered += 1
        if (!clients.has(client.id)) faults.push(`${client.id} was served after it had left`)
        if (revision !== client.revision + 1) faults.push(`revision ${revision} after ${client.revision}`)
        if ((revision === 1) !== (base === undefined))
          faults.push(`revision ${revision} and is_initial disagree`)
        client.revision = revision
        client.last = (version.result.data as { value: number } | null)?.value
        if (revision === 1 && client.last !== undefined && client.last < client.joinedAt) {
          faults.push(`${client.id} began with ${client.last}, which was old when it joined`)
        }
      },
      end: () => faults.push(`${client.id} was ended`),
    }
    clients.set(client.id, client)
    client.subscription = store.register({
      id: client.id,
      key: `query ${client.query}`,
      plan: planOf(client.query),
      execute: ({ signal }) => execute(client.query, signal),
      channel,
    })
  }

  function leave(): void {
    const ids = [...clients.keys()]
    const id = ids[pick(ids.length)]
    if (id === undefined) return
    clients.delete(id)
    const query = store.unregister(id)
    if (!query) faults.push(`${id} was not registered`)
  }

  function change(): void {
    const query = pick(QUERIES)
    truth[query] = steps
    store.invalidate({ entityType: `T${query}`, operation: 'update' })
  }

  function changeAll(): void {
    for (let query = 0; query < QUERIES; query++) truth[query] = steps
    store.invalidate(
      random() < 0.5 ? { entityType: 'All', operation: 'update' } : { entityType: '*', operation: '*' },
    )
  }

  function stall(): void {
    const all = [...clients.values()]
    const client = all[pick(all.length)]
    if (!client) return
    client.ready = !client.ready
    if (client.ready) client.subscription?.flush()
  }

  async function checkTruth(): Promise<void> {
    failing.clear()
    for (const client of clients.values()) {
      client.ready = true
      client.subscription?.flush()
    }
    await clock.advance(12_000)
    for (const client of clients.values()) {
      if (client.last !== truth[client.query]) {
        faults.push(
          `step ${steps}: ${client.id} of query ${client.query} has ${client.last}, the truth is ${truth[client.query]}`,
        )
      }
    }
  }

  for (steps = 1; steps <= STEPS; steps++) {
    const dice = random()
    if (dice < 0.7) change()
    else if (dice < 0.71) changeAll()
    else if (dice < 0.8 && clients.size < 60) join()
    else if (dice < 0.86) leave()
    else if (dice < 0.9) stall()
    else if (dice < 0.92) failing.add(pick(QUERIES))
    else if (dice < 0.96) failing.delete(pick(QUERIES))
    else await clock.advance(pick(150))
    if (steps % 50 === 0) await tick()
    if (steps % 5000 === 0) await checkTruth()
    if (faults.length > 0) break
  }
  await checkTruth()

  // One burst, one group: at most two executions.
  runs.fill(0)
  for (let n = 0; n < 500; n++) store.invalidate({ entityType: 'T1', operation: 'update' })
  await clock.advance(3000)

  expect(faults.slice(0, 5)).toEqual([])
  expect(runs[1]).toBeLessThanOrEqual(2)
  expect(delivered).toBeGreaterThan(STEPS / 100)
  for (const id of clients.keys()) {
    clients.delete(id)
    store.unregister(id)
  }
  await clock.advance(1000)
  expect(clock.pending()).toBe(0)
  expect(store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
}, 600_000)
