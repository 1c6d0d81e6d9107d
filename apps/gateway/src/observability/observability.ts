import { withBehaviour } from '@vinyasa/core/pipeline'
import type { Plugin } from 'graphql-yoga'
import type { LogSections } from '../logging/log-types.ts'
import type { PresetSections } from '../presets.ts'
import type { ObservabilitySections } from './observability-types.ts'
import type { ObserveCost } from '../cost/cost-limit.ts'
import { type GatewayPaths, METRICS_PATH } from '../http/paths.ts'
import type { Logger } from '../logging/logger.ts'
import { createActivity, type Activity } from './activity.ts'
import { observeAll, type ObserveBackendCall } from './backend-call.ts'
import type { MetricsReadings, Metrics } from './metrics/metrics.ts'
import type { ShareMetrics } from './metrics/shared-metrics.ts'
import { Recorder, type RequestEnd } from './recorder.ts'
import { useRecorder } from './use-recorder.ts'
import { countBackendCalls, createRequestLog } from './request-log.ts'
import { isSecret } from '../texts/is-secret.ts'

type RequestPayload = Parameters<NonNullable<Plugin['onRequest']>>[0]

/** Serves the metrics. If a token is set, scrapers must send it as `Authorization: Bearer <token>`. */
function useMetricsEndpoint(metrics: Metrics, token: string | undefined): Plugin {
  async function answer({ request, fetchAPI, endResponse }: RequestPayload): Promise<void> {
    const sent = request.headers.get('authorization') ?? ''
    if (token !== undefined && !isSecret(sent, `Bearer ${token}`)) {
      endResponse(new fetchAPI.Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } }))
      return
    }
    const text = await metrics.render()
    endResponse(new fetchAPI.Response(text, { headers: { 'content-type': metrics.contentType } }))
  }

  return withBehaviour({
    // Only requests for metrics wait for a promise.
    onRequest: (payload) => (payload.url.pathname === METRICS_PATH ? answer(payload) : undefined),
  })
}

export interface Observability {
  /** First among the gateway's plugins. */
  readonly plugins: readonly Plugin[]
  /** To be told of every call to a backend. */
  readonly observe: ObserveBackendCall
  /** To be told what operations are counted at; undefined without metrics. */
  readonly observeCost: ObserveCost | undefined
  /** For the status page; undefined where there is none. */
  readonly activity: Activity | undefined
  /** Records how a request ended without a response of Yoga's. */
  ended(end: RequestEnd): void
  /** The gateway has ended: what it has counted stays. */
  end(): void
}

export interface ObservabilityOptions {
  readonly config: LogSections & ObservabilitySections & PresetSections
  readonly logger: Logger
  readonly readings: MetricsReadings
  readonly paths: GatewayPaths
  /** Makes the metrics part of those that a scrape is answered with. Default: they are all. */
  readonly shareMetrics?: ShareMetrics | undefined
}

/** A log always; metrics and traces as far as the config asks for them. */
export async function createObservability(options: ObservabilityOptions): Promise<Observability> {
  const { config, logger, readings, paths, shareMetrics } = options
  const isDevelopment = config.preset !== 'production'
  const { metrics: asked = isDevelopment, status = isDevelopment, tracing: traced = false } = config
  const activity = status ? createActivity(paths.graphql) : undefined
  // What counts, and OpenTelemetry, are loaded only where they are asked for.
  const metrics =
    asked === false
      ? undefined
      : (await import('./metrics/metrics.ts')).createMetrics({
          readings,
          paths: paths.all,
          share: shareMetrics,
        })
  const token = typeof asked === 'object' ? asked.token : undefined
  const tracing = traced ? (await import('./tracing.ts')).createTracing() : undefined
  const parts = [activity, tracing, metrics].filter((each) => each !== undefined)
  const recorder = new Recorder({
    observers: [
      createRequestLog({
        logger,
        redact: config.log?.redact,
        quiet: [paths.live, paths.ready, METRICS_PATH],
      }),
      ...parts.map(({ observer }) => observer),
    ],
  })
  return {
    ended: (end) => recorder.ended(end),
    plugins: [useRecorder(recorder), ...(metrics ? [useMetricsEndpoint(metrics, token)] : [])],
    observe: observeAll([countBackendCalls, ...parts.map(({ observe }) => observe)]),
    observeCost: metrics?.observeCost,
    activity,
    end: () => metrics?.end(),
  }
}
