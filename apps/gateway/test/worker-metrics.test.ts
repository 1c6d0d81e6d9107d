import { createFakeClock } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createMetrics } from '../src/observability/metrics/metrics.ts'
import { type Readings, registryOf } from '../src/observability/metrics/readings.ts'
import { type ShareMetrics, shareAmongReloads } from '../src/observability/metrics/shared-metrics.ts'
import type { Peer } from '../src/workers/peer.ts'
import { createMetricsRelay } from '../src/workers/metrics-relay.ts'
import { createWorkerMetrics } from '../src/workers/worker-metrics.ts'

/** Both ends of a channel between a worker and the first process; a worker that stands still answers nothing. */
function channel() {
  type Listener = (message: unknown) => void
  const toWorker: Listener[] = []
  const toFirst: Listener[] = []
  const state = { isStill: false }
  const end = (mine: Listener[], others: Listener[]): Peer =>
    ({
      on: (event: string, listener: Listener) => event === 'message' && mine.push(listener),
      isConnected: () => true,
      send: (message: object) =>
        queueMicrotask(() => {
          if (!state.isStill) for (const listener of others) listener(structuredClone(message))
        }),
    }) as unknown as Peer
  return { worker: end(toFirst, toWorker), first: end(toWorker, toFirst), state }
}

const readings = (count: number, open: number): Readings =>
  [
    {
      name: 'asked_total',
      help: 'Asked.',
      type: 'counter',
      aggregator: 'sum',
      values: [{ value: count, labels: { path: '/graphql' } }],
    },
    { name: 'open', help: 'Open.', type: 'gauge', aggregator: 'max', values: [{ value: open, labels: {} }] },
  ] as unknown as Readings

const fail = (error: unknown): never => {
  throw error
}

function start() {
  const clock = createFakeClock()
  const addToMetrics = createMetricsRelay(fail, clock)
  return {
    clock,
    add(count: number, open = 0) {
      const { worker, first, state } = channel()
      const values = { count, open, reads: 0 }
      const leave = addToMetrics(worker)
      const shared = createWorkerMetrics(first, { onError: fail, clock })(async () => {
        values.reads++
        return readings(values.count, values.open)
      })
      return {
        values,
        leave,
        state,
        shared,
        scrape: async () =>
          (await registryOf(await shared.all()).metrics()).replaceAll(/^#.*\n/gm, '').trim(),
      }
    },
  }
}

it('whichever worker is scraped answers for all, and states are the worst of all', async () => {
  const { add } = start()
  const [one, two] = [add(40, 1), add(80)]
  const expected = 'asked_total{path="/graphql"} 120\nopen 1'
  expect((await one.scrape()).replaceAll(/\n+/g, '\n')).toBe(expected)
  expect((await two.scrape()).replaceAll(/\n+/g, '\n')).toBe(expected)
})

it('counters never fall: not when a worker ends, and not when its place is taken', async () => {
  const { add } = start()
  const [one, two, three] = [add(40, 1), add(80), add(2)]
  await one.scrape()
  two.leave()
  three.leave()
  one.values.open = 0
  expect(await one.scrape()).toContain('asked_total{path="/graphql"} 122')
  const next = add(1)
  expect(await next.scrape()).toContain('asked_total{path="/graphql"} 123')
  expect(await next.scrape()).toContain('open 0')
})

it('scrapes at once make each worker read its metrics once', async () => {
  const { add } = start()
  const [one, two] = [add(40), add(80)]
  const texts = await Promise.all([one, two, one, two, one].map(({ scrape }) => scrape()))
  expect(new Set(texts)).toEqual(new Set([texts[0]]))
  expect(two.values.reads).toBe(1)
})

it('a worker that ends while a scrape is under way counts once', async () => {
  const { add, clock } = start()
  const [one, two, three] = [add(40), add(80), add(2)]
  await one.scrape()
  three.state.isStill = true
  const scraped = one.scrape()
  await clock.advance(1)
  two.leave()
  await clock.advance(1_000)
  expect(await scraped).toContain('asked_total{path="/graphql"} 122')
})

it('a worker that stands still counts with what it said last, after a second', async () => {
  const { add, clock } = start()
  const [one, two] = [add(40), add(80)]
  await one.scrape()
  two.state.isStill = true
  two.values.count = 90
  const scraped = one.scrape()
  await clock.advance(1_000)
  expect(await scraped).toContain('asked_total{path="/graphql"} 120')
})

it('a first process that stands still is told of', async () => {
  const { add, clock } = start()
  const one = add(40)
  one.state.isStill = true
  const refused = one.shared.all().catch((error: unknown) => error)
  await clock.advance(3_000)
  expect(await refused).toMatchObject({ code: 'METRICS_OUT_OF_REACH', status: 503 })
})

function inWorker(): ShareMetrics {
  const clock = createFakeClock()
  const { worker, first } = channel()
  createMetricsRelay(fail, clock)(worker)
  return createWorkerMetrics(first, { onError: fail, clock })
}

it.each([
  ['a process', () => shareAmongReloads(fail)],
  ['a worker', inWorker],
])('counters of %s go on over reloads, and one that fails changes nothing', async (_what, shareOf) => {
  const share = shareOf()
  const first = share(async () => readings(7, 1))
  const text = async () =>
    (await registryOf(await first.all()).metrics()).replaceAll(/^#.*\n|^\n/gm, '').trim()
  share(async () => readings(1_000, 1))
  expect(await text()).toBe('asked_total{path="/graphql"} 7\nopen 1')
  const next = share(async () => readings(2, 0))
  next.serve()
  next.serve()
  expect(await text()).toBe('asked_total{path="/graphql"} 9\nopen 0')
  share(async () => readings(3, 0)).serve()
  expect(await text()).toBe('asked_total{path="/graphql"} 12\nopen 0')
})

it.each([
  ['a process', () => shareAmongReloads(fail)],
  ['a worker', inWorker],
])(
  'a gateway of %s that a reload has replaced counts what it answers until it ends',
  async (_what, shareOf) => {
    const share = shareOf()
    let asked = 7
    const first = share(async () => readings(asked, 1))
    const next = share(async () => readings(2, 0))
    const text = async () =>
      (await registryOf(await next.all()).metrics()).replaceAll(/^#.*\n|^\n/gm, '').trim()
    next.serve()
    asked += 1
    expect(await text()).toBe('asked_total{path="/graphql"} 10\nopen 0')
    asked += 1
    const scraped = text()
    first.end()
    first.end()
    expect(await scraped).toBe('asked_total{path="/graphql"} 11\nopen 0')
    asked = 1_000
    expect(await text()).toBe('asked_total{path="/graphql"} 11\nopen 0')
  },
)

it('lines that the log of all gateways has lost are counted once while two of them answer', async () => {
  let lost = 3
  const lostLogLines = () => {
    const told = lost
    lost = 0
    return told
  }
  const share = shareAmongReloads(fail)
  const none = { live: () => undefined, cacheBytes: () => undefined, breakers: () => [] }
  const make = () => createMetrics({ readings: { ...none, lostLogLines }, paths: new Set(), share })
  const [first, next] = [make(), make()]
  const respond = ({ observer }: typeof first) =>
    observer.response?.(
      { startedAt: 0, path: '/' } as never,
      { status: 200, headers: new Headers() } as never,
      {} as never,
    )
  respond(first)
  expect(await first.render()).toContain('vinyasa_log_lines_lost_total 3')
  respond(next)
  lost = 2
  expect(await next.render()).toContain('vinyasa_log_lines_lost_total 5')
  first.end()
  lost = 1
  expect(await next.render()).toContain('vinyasa_log_lines_lost_total 6')
})

it('all metrics of a gateway can be added, and have the same names and labels as those of one process', async () => {
  const clock = createFakeClock()
  const addToMetrics = createMetricsRelay(fail, clock)
  const readings = {
    live: () => ({ subscriptions: 1, groups: 1, executions: 2, events: 3 }),
    cacheBytes: () => 10,
    breakers: () => [{ source: 'things', state: 'open' as const }],
    lostLogLines: () => 1,
  }
  const options = { readings, paths: new Set(['/graphql']), now: () => 0 }
  const gateways = [1, 2].map(() => {
    const { worker, first } = channel()
    const leave = addToMetrics(worker)
    return {
      leave,
      metrics: createMetrics({ ...options, share: createWorkerMetrics(first, { onError: fail, clock }) }),
    }
  })
  const alone = createMetrics(options)
  for (const { observeCost, observe } of [alone, ...gateways.map(({ metrics }) => metrics)]) {
    observeCost(5, 'COST_OK')
    observe({ source: 'things', kind: { name: 'rest' }, name: 'thing' } as never)?.({
      status: '200',
      retries: 1,
      failed: false,
    })
  }
  const [one, two] = gateways
  const seriesOf = (text: string) => text.split('\n').map((line) => line.replace(/ [^ ]+$/, ''))
  const text = await one!.metrics.render()
  expect(seriesOf(text).toSorted()).toEqual(seriesOf(await alone.render()).toSorted())
  expect(text).toContain('vinyasa_operation_cost_estimated_bucket{le="10",result="COST_OK"} 2')
  expect(text).toContain('vinyasa_live_executions_total 4')
  expect(text).toContain('vinyasa_backend_breaker_open{source="things"} 1')
  two!.leave()
  expect(await one!.metrics.render()).toContain('vinyasa_operation_cost_estimated_count{result="COST_OK"} 2')
})
