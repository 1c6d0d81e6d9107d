import { answerSizeOf } from '@vinyasa/source-kit'
import { isLiveRun, keyed, processLedger, systemClock } from '@vinyasa/core'
import { Counter, Gauge, Registry } from 'prom-client'
import type { ObserveBackendCall } from '../backend-call.ts'
import type { ObserveCost } from '../../cost/cost-limit.ts'
import { errorCodesOf, labelOf } from '../operation.ts'
import type { Observer } from '../recorder.ts'
import { type LabelsOf, METRICS, type NamesOf } from './definitions.ts'
import { type Readings, registryOf } from './readings.ts'
import type { ShareMetrics } from './shared-metrics.ts'
import { recordedPath } from '../request-record.ts'
import { counterTallies, histogramTallies, type Tally } from '../tallies.ts'

/**
 * Values that are read at each scrape. Some are set after the metrics are created, because metrics are created before the
 * parts that they observe.
 */
export interface MetricsReadings {
  /** Returns undefined until live queries are created, or if they are off. */
  live: () => LiveReading | undefined
  /** Undefined until the server listens. */
  load?: (() => LoadReading) | undefined
  /** Returns the memory of the response cache in bytes, or undefined without a cache. */
  cacheBytes: () => number | undefined
  readonly breakers: () => readonly BreakerReading[]
  /** Returns the number of log lines lost since the last call. Gateways that share a log share this number. */
  readonly lostLogLines: () => number
}

export interface LoadReading {
  /** Requests whose response has not started. */
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
  /** Call when the gateway has ended. */
  end(): void
}

export interface MetricsOptions {
  /** Paths with their own value of the label `path`. */
  readonly paths: ReadonlySet<string>
  readonly readings: MetricsReadings
  /** Combines the metrics with the metrics of other gateways. Default: only this gateway. */
  readonly share?: ShareMetrics | undefined
  /** Returns the time in milliseconds. Default: the system clock. */
  readonly now?: (() => number) | undefined
}

const BREAKER_VALUE = { closed: 0, 'half-open': 0.5, open: 1 } as const

/**
 * Creates the Prometheus metrics. Label values never come from clients: operation names are not labels, and paths
 * outside the gateway share the value `other`. Clients therefore cannot increase the number of series.
 */
export function createMetrics({ readings, paths, share, now = systemClock.now }: MetricsOptions): Metrics {
  const registry = new Registry()
  addReadings(registry, readings)
  const { requestOf, operationOfType, errorOf, cacheOf, costOf, sizeOf, callOf, retriesOf } =
    createTallies(registry)
  // The type of `getMetricsAsJSON` is wrong: it declares a single metric.
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
    // An infinite cost would make the sum infinite.
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
        // The header of a batch lists one outcome for each operation.
        const outcomes = headers.get('x-cache')?.toLowerCase().split(', ') ?? []
        for (const outcome of outcomes) cacheOf(outcome)(1)
      },
    },
  }
}

/** Creates the metrics that are counted during requests. Each label value has its own tally. */
function createTallies(registry: Registry) {
  function counter<Name extends NamesOf<'counter'>>(name: Name): (labels: LabelsOf<Name>) => Tally {
    const { help, labels } = METRICS[name]
    return counterTallies({ registry, name, help, labelNames: Object.keys(labels) })
  }
  function histogram<Name extends NamesOf<'histogram'>>(name: Name): (labels: LabelsOf<Name>) => Tally {
    const { help, buckets } = METRICS[name]
    return histogramTallies({ registry, name, help, buckets })
  }
  const requests = histogram('vinyasa_http_request_duration_seconds')
  const operations = counter('vinyasa_operations_total')
  const errors = counter('vinyasa_errors_total')
  const cache = counter('vinyasa_cache_requests_total')
  const calls = histogram('vinyasa_backend_call_duration_seconds')
  const retries = counter('vinyasa_backend_retries_total')
  const costs = histogram('vinyasa_operation_cost_estimated')
  const sizes = histogram('vinyasa_operation_cost_actual')
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

/** Creates the metrics whose values are read at each scrape. */
function addReadings(registry: Registry, readings: MetricsReadings): void {
  const registers = [registry]
  const gauge = (name: NamesOf<'gauge'>, read: () => number | undefined): Gauge =>
    new Gauge({
      name,
      help: METRICS[name].help,
      registers,
      collect() {
        const value = read()
        if (value !== undefined) this.set(value)
      },
    })
  /** `read` returns a total that never falls. */
  const counter = (name: NamesOf<'counter'>, read: () => number | undefined): Counter =>
    new Counter({
      name,
      help: METRICS[name].help,
      registers,
      collect() {
        this.reset()
        this.inc(read() ?? 0)
      },
    })
  gauge('vinyasa_http_requests_in_flight', () => readings.load?.()?.requests)
  gauge('vinyasa_connections', () => readings.load?.()?.connections)
  gauge('vinyasa_live_subscriptions', () => readings.live()?.subscriptions)
  gauge('vinyasa_live_groups', () => readings.live()?.groups)
  counter('vinyasa_live_executions_total', () => readings.live()?.executions)
  counter('vinyasa_live_events_total', () => readings.live()?.events)
  const { help, labels, aggregator } = METRICS.vinyasa_backend_breaker_open
  const breakers = new Gauge({
    name: 'vinyasa_backend_breaker_open',
    help,
    labelNames: Object.keys(labels),
    aggregator,
    registers: [],
    collect() {
      for (const { source, state } of readings.breakers()) {
        if (state !== 'off') this.set({ source }, BREAKER_VALUE[state])
      }
    },
  })
  registry.registerMetric(breakers)
  gauge('process_resident_memory_bytes', () => process.memoryUsage.rss())
  gauge('vinyasa_cache_bytes', () => readings.cacheBytes())
  gauge('vinyasa_held_bytes', () => processLedger().bytes)
  let lost = 0
  counter('vinyasa_log_lines_lost_total', () => (lost += readings.lostLogLines()))
}
