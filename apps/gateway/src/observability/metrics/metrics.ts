import { answerSizeOf } from '@vinyasa/source-kit'
import { isLiveRun, systemClock } from '@vinyasa/base'
import { Counter, Gauge, Registry } from 'prom-client'
import type { ObserveBackendCall } from '../backend-call.ts'
import type { ObserveCost } from '../../cost/cost-limit.ts'
import { errorCodesOf } from '../operation.ts'
import type { Observer } from '../recorder.ts'
import { type Readings, registryOf } from './readings.ts'
import type { ShareMetrics } from './shared-metrics.ts'
import { recordedPath } from '../request-record.ts'
import { counterTallies, histogramTallies, keyed } from '../tallies.ts'

/** Readings that the gateway is asked for at the moment of a scrape. */
export interface MetricsReadings {
  /** Undefined while live queries are not there. */
  readonly live: () => LiveReading | undefined
  /** Bytes that the response cache keeps; undefined: there is none. */
  readonly cacheBytes: () => number | undefined
  readonly breakers: () => readonly BreakerReading[]
  /** Lines lost since it was asked last, by whichever of the gateways that have one log. */
  readonly lostLogLines: () => number
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
        for (const code of errorCodesOf(result)) errorOf(knownCode(code))(1)
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
  const requests = histogramTallies({
    registry,
    name: 'vinyasa_http_request_duration_seconds',
    help: 'Time from a request to the start of its answer.',
    buckets: SECONDS,
  })
  const operations = counterTallies({
    registry,
    name: 'vinyasa_operations_total',
    help: 'Operations executed, over HTTP and WebSocket; live: runs of live queries.',
    labelNames: ['type'],
  })
  const errors = counterTallies({
    registry,
    name: 'vinyasa_errors_total',
    help: 'Errors in answers over HTTP, by extensions.code.',
    labelNames: ['code'],
  })
  const cache = counterTallies({
    registry,
    name: 'vinyasa_cache_requests_total',
    help: 'Answers by what the response cache did.',
    labelNames: ['outcome'],
  })
  const calls = histogramTallies({
    registry,
    name: 'vinyasa_backend_call_duration_seconds',
    help: 'RPCs (retries included) and HTTP requests (each attempt) sent to backends.',
    buckets: SECONDS,
  })
  const retries = counterTallies({
    registry,
    name: 'vinyasa_backend_retries_total',
    help: 'Calls that were sent again.',
    labelNames: ['source', 'kind'],
  })
  const costs = histogramTallies({
    registry,
    name: 'vinyasa_operation_cost_estimated',
    help: 'What operations may cost, counted before they were executed or refused; answers from the cache are not.',
    buckets: COSTS,
  })
  const sizes = histogramTallies({
    registry,
    name: 'vinyasa_operation_cost_actual',
    help: 'Objects of answers, counted while they were made; those of answers from the cache are not.',
    buckets: COSTS,
  })
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
  const reading = (name: string, help: string, read: (stats: LiveReading) => number): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const stats = readings.live()
        if (stats) this.set(read(stats))
      },
    })
  reading('vinyasa_live_subscriptions', 'Live subscriptions now.', (stats) => stats.subscriptions)
  reading('vinyasa_live_groups', 'Distinct live queries now.', (stats) => stats.groups)
  const growing = (name: string, help: string, read: (stats: LiveReading) => number): Counter =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        const stats = readings.live()
        this.reset()
        if (stats) this.inc(read(stats))
      },
    })
  growing('vinyasa_live_executions_total', 'Runs of live queries.', (stats) => stats.executions)
  growing('vinyasa_live_events_total', 'Invalidation events seen.', (stats) => stats.events)
  registry.registerMetric(
    new Gauge({
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
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Resident memory.',
      registers: [],
      collect() {
        this.set(process.memoryUsage.rss())
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'vinyasa_cache_bytes',
      help: 'Bytes that the response cache keeps in memory, of responseCache.maxBytes.',
      registers: [],
      collect() {
        const bytes = readings.cacheBytes()
        if (bytes !== undefined) this.set(bytes)
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: 'vinyasa_log_lines_lost_total',
      help: 'Log lines that could not be written.',
      registers: [],
      collect() {
        this.inc(readings.lostLogLines())
      },
    }),
  )
}

/** Codes may be a backend's own; only those of the usual form become labels. */
function knownCode(code: string): string {
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : 'OTHER'
}
