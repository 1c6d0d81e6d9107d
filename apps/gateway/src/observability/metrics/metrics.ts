import { answerSizeOf } from '@vinyasa/source-kit'
import { isLiveRun, keyed, processLedger, systemClock } from '@vinyasa/base'
import { Counter, Gauge, Registry } from 'prom-client'
import type { ObserveBackendCall } from '../backend-call.ts'
import type { ObserveCost } from '../../cost/cost-limit.ts'
import { errorCodesOf, labelOf } from '../operation.ts'
import type { Observer } from '../recorder.ts'
import { type Readings, registryOf } from './readings.ts'
import type { ShareMetrics } from './shared-metrics.ts'
import { recordedPath } from '../request-record.ts'
import { counterTallies, histogramTallies } from '../tallies.ts'

/** Readings that the gateway is asked for at the moment of a scrape. */
export interface MetricsReadings {
  /** Undefined while live queries are not there. */
  readonly live: () => LiveReading | undefined
  /** Undefined until a server listens. */
  readonly load?: (() => LoadReading) | undefined
  /** Bytes that the response cache keeps; undefined: there is none. */
  readonly cacheBytes: () => number | undefined
  readonly breakers: () => readonly BreakerReading[]
  /** Lines lost since it was asked last, by whichever of the gateways that have one log. */
  readonly lostLogLines: () => number
}

export interface LoadReading {
  /** Requests without the head of a response. */
  readonly requests: number
  readonly connections: number
}

export interface LiveReading {
  readonly subscriptions: number
  readonly groups: number
  readonly executions: number
  readonly events: number
}

export interface BreakerReading {
  readonly source: string
  readonly state: 'off' | 'closed' | 'half-open' | 'open'
}

export interface Metrics {
  readonly observer: Observer
  readonly observe: ObserveBackendCall
  readonly observeCost: ObserveCost
  readonly contentType: string
  render(): Promise<string>
  /** The gateway has ended. */
  end(): void
}

export interface MetricsOptions {
  /** Paths that have a label of their own. */
  readonly paths: ReadonlySet<string>
  readonly readings: MetricsReadings
  /** A scrape is answered for all that share. Default: for this gateway alone. */
  readonly share?: ShareMetrics | undefined
  /** Milliseconds; default the platform's. */
  readonly now?: (() => number) | undefined
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const COSTS = [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
const BREAKER_VALUE = { closed: 0, 'half-open': 0.5, open: 1 } as const

/**
 * Prometheus metrics. Labels hold nothing that a client chooses (no operation names, no paths beyond the gateway's
 * own), so that nobody can make their number grow, and no value of a request gets into them.
 */
export function createMetrics({ readings, paths, share, now = systemClock.now }: MetricsOptions): Metrics {
  const registry = new Registry()
  addReadings(registry, readings)
  const { requestOf, operationOfType, errorOf, cacheOf, costOf, sizeOf, callOf, retriesOf } =
    createTallies(registry)
  // Prom-client declares one metric where it gives all.
  const shared = share?.(async () => (await registry.getMetricsAsJSON()) as unknown as Readings)
  let isServing = false

  return {
    contentType: registry.contentType,
    render: async () => (shared ? registryOf(await shared.all()) : registry).metrics(),
    end: () => shared?.end(),
    observe({ source, kind, name }) {
      const endedWith = callOf(kind.name)(source)(name)
      const startedAt = now()
      return ({ status, retries: again }) => {
        endedWith(status)((now() - startedAt) / 1000)
        if (again > 0) retriesOf(kind.name)(source)(again)
      }
    },
    // A cost that is more than can be counted must not spoil the sum.
    observeCost: (cost, result) => costOf(result)(Math.min(cost, Number.MAX_SAFE_INTEGER)),
    observer: {
      operation({ type }, context) {
        operationOfType(isLiveRun(context) ? 'live' : type)(1)
        return undefined
      },
      executed(context) {
        const size = answerSizeOf(context)
        if (size) sizeOf(size.refusal ? 'RESPONSE_TOO_LARGE' : 'COST_OK')(size.objects)
      },
      result(_record, result) {
        for (const code of errorCodesOf(result)) errorOf(labelOf(code))(1)
      },
      response(record, { status, headers }, request) {
        if (!isServing) shared?.serve()
        isServing = true
        const path = recordedPath(record, request)
        requestOf(paths.has(path) ? path : 'other')(status)((now() - record.startedAt) / 1000)
        // A batch has one for each of its operations.
        const outcomes = headers.get('x-cache')?.toLowerCase().split(', ') ?? []
        for (const outcome of outcomes) cacheOf(outcome)(1)
      },
    },
  }
}

/** Creates the metrics that are counted, by the values of their labels. */
function createTallies(registry: Registry) {
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    counterTallies({ registry, name, help, labelNames })
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    histogramTallies({ registry, name, help, buckets })
  const requests = histogram(
    'vinyasa_http_request_duration_seconds',
    'Time from a request to the start of its answer.',
    SECONDS,
  )
  const operations = counter(
    'vinyasa_operations_total',
    'Operations executed, over HTTP and WebSocket; live: runs of live queries.',
    ['type'],
  )
  const errors = counter('vinyasa_errors_total', 'Errors in answers over HTTP, by extensions.code.', ['code'])
  const cache = counter('vinyasa_cache_requests_total', 'Answers by what the response cache did.', [
    'outcome',
  ])
  const calls = histogram(
    'vinyasa_backend_call_duration_seconds',
    'RPCs (retries included) and HTTP requests (each attempt) sent to backends.',
    SECONDS,
  )
  const retries = counter('vinyasa_backend_retries_total', 'Calls that were sent again.', ['source', 'kind'])
  const costs = histogram(
    'vinyasa_operation_cost_estimated',
    'What operations may cost, counted before they were executed or refused; answers from the cache are not.',
    COSTS,
  )
  const sizes = histogram(
    'vinyasa_operation_cost_actual',
    'Objects of answers, counted while they were made; those of answers from the cache are not.',
    COSTS,
  )
  return {
    requestOf: keyed((path: string) => keyed((status: number) => requests({ path, status }))),
    operationOfType: keyed((type: string) => operations({ type })),
    errorOf: keyed((code: string) => errors({ code })),
    cacheOf: keyed((outcome: string) => cache({ outcome })),
    costOf: keyed((result: string) => costs({ result })),
    sizeOf: keyed((result: string) => sizes({ result })),
    callOf: keyed((kind: string) =>
      keyed((source: string) =>
        keyed((call: string) => keyed((status: string) => calls({ source, kind, call, status }))),
      ),
    ),
    retriesOf: keyed((kind: string) => keyed((source: string) => retries({ source, kind }))),
  }
}

function addReadings(registry: Registry, readings: MetricsReadings): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number | undefined): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read()
        if (value !== undefined) this.set(value)
      },
    })
  /** Of a number that never falls. */
  const counter = (name: string, help: string, read: () => number | undefined): Counter =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(read() ?? 0)
      },
    })
  gauge(
    'vinyasa_http_requests_in_flight',
    'Requests whose response has not begun, of server.maxInFlight for each process.',
    () => readings.load?.()?.requests,
  )
  gauge(
    'vinyasa_connections',
    'Open connections, WebSockets and event streams included, of server.maxConnections for each process.',
    () => readings.load?.()?.connections,
  )
  gauge('vinyasa_live_subscriptions', 'Live subscriptions now.', () => readings.live()?.subscriptions)
  gauge('vinyasa_live_groups', 'Distinct live queries now.', () => readings.live()?.groups)
  counter('vinyasa_live_executions_total', 'Runs of live queries.', () => readings.live()?.executions)
  counter('vinyasa_live_events_total', 'Invalidation events seen.', () => readings.live()?.events)
  const breakers = new Gauge({
    name: 'vinyasa_backend_breaker_open',
    help: 'Circuit breaker of a REST source: 0 closed, 0.5 half open, 1 open.',
    labelNames: ['source'],
    aggregator: 'max',
    registers: [],
    collect() {
      for (const { source, state } of readings.breakers()) {
        if (state !== 'off') this.set({ source }, BREAKER_VALUE[state])
      }
    },
  })
  registry.registerMetric(breakers)
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  gauge(
    'vinyasa_cache_bytes',
    'Bytes that the response cache keeps in memory, of responseCache.maxBytes.',
    () => readings.cacheBytes(),
  )
  gauge('vinyasa_held_bytes', 'Memory held for clients.', () => processLedger().bytes)
  let lost = 0
  counter(
    'vinyasa_log_lines_lost_total',
    'Log lines that could not be written.',
    () => (lost += readings.lostLogLines()),
  )
}
