import { ReadableStream } from 'node:stream/web'
import { backgroundClock, sleep, systemClock } from '@vinyasa/core'
import type { Plugin } from 'graphql-yoga'
import { rememberBriefly } from '../http/probes.ts'
import { hash } from 'node:crypto'
import { ASSETS } from '../assets.ts'
import type { OpenedBus } from '../bus/open-bus.ts'
import type { MetricsReadings } from '../observability/metrics/metrics.ts'
import type { GatewayConfig } from '../config/types.ts'
import { METRICS_PATH, type GatewayPaths } from '../http/paths.ts'
import { withoutSecrets } from '../logging/outage.ts'
import type { Activity, ActivityReading } from '../observability/activity.ts'
import { httpSettings } from '../presets.ts'
import type { Source } from '../sources/source.ts'
import { version } from '../version.ts'

const PAGE = '/status'
const LIVE = '/status/live'
/** Figures are compared this often while somebody looks, and read for all who look together. */
const INTERVAL_MS = 1000

/** Serves the status page, and the events that feed it: the figures, each time that they have changed. */
export function useStatusPage(readFigures: () => Promise<object>): Plugin {
  const { html, headers } = readStatusPage()
  const read = rememberBriefly(async () => JSON.stringify(await readFigures()), INTERVAL_MS / 2)

  async function* events(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder()
    for (let last = ''; !signal.aborted; await sleep(backgroundClock, INTERVAL_MS, signal)) {
      const figures = await read()
      if (figures !== last) yield encoder.encode(`data: ${figures}\n\n`)
      last = figures
    }
  }

  return {
    onRequest({ request, url, fetchAPI: { Response }, endResponse }) {
      const { pathname } = url
      if (pathname !== PAGE && pathname !== LIVE) return
      const isRead = request.method === 'GET' || (request.method === 'HEAD' && pathname === PAGE)
      if (!isRead)
        endResponse(
          new Response(null, { status: 405, headers: { allow: pathname === PAGE ? 'GET, HEAD' : 'GET' } }),
        )
      else if (pathname === PAGE) endResponse(new Response(html, { headers }))
      // Its own pages only, of which browsers say no origin: another site's learns nothing of this gateway.
      else if (request.headers.has('origin')) endResponse(new Response(null, { status: 403 }))
      else {
        const stream = ReadableStream.from(events(request.signal))
        const own = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
        endResponse(new Response(stream as unknown as BodyInit, { headers: own }))
      }
    },
  }
}

/** The page, and headers that let it run its own script, talk to its own origin, and nothing else. */
export function readStatusPage(): {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
} {
  const html = ASSETS.get('status.html') as string
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  }
}

/** CSP sources for the page's inline elements of a kind: their text and no other. */
function hashesOf(html: string, element: 'script' | 'style'): string {
  const texts = html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))
  return [...texts].map(([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`).join(' ')
}

interface StatusParts {
  readonly config: GatewayConfig
  readonly paths: GatewayPaths
  readonly activity: Activity
  readonly readings: MetricsReadings
  readonly sources: readonly Source[]
  readonly broker: OpenedBus['broker']
}

/** A backend that has not answered by then is down. */
const HEALTH_TIMEOUT_MS = 1000
const NO_CALLS = { calls: 0, failed: 0 }

/** Returns what reads the figures of the status page: of this process, since the gateway started or was reloaded. */
export function figuresOf(parts: StatusParts): () => Promise<object> {
  const { config, paths, activity, readings, sources, broker } = parts
  const own = version()
  const lasting = {
    // What was built from the sources between releases has none.
    version: own === '0.0.0' ? undefined : own,
    preset: config.preset ?? 'development',
    processId: process.pid,
    startedAt: systemClock.wallNow(),
    links: linksOf(config, paths),
  }
  return async () => {
    const asked = await Promise.all(sources.map(statusOf))
    const { kind, connected: up, reason } = broker?.() ?? {}
    const { cache, backends, ...counted } = activity.read()
    const live = readings.live()
    return {
      ...lasting,
      ...counted,
      // Null when the response cache is off.
      cache: config.responseCache ? cacheOf(cache) : null,
      live: {
        groups: live?.groups ?? 0,
        subscribers: live?.subscriptions ?? 0,
        runs: live?.executions ?? 0,
      },
      backends: [...asked, ...(kind ? [{ name: kind, kind, up, reason }] : [])].map((backend) => ({
        ...backend,
        reason: backend.reason && withoutSecrets(backend.reason),
        requests: backends[backend.name] ?? NO_CALLS,
      })),
    }
  }
}

async function statusOf({ name, kind, health, breaker }: Source) {
  const { healthy: up, reason } = await health(AbortSignal.timeout(HEALTH_TIMEOUT_MS))
  return { name, kind, up, reason, breaker: breaker?.() }
}

/** Hits are answers that no backend was asked for; there is no rate before the first of either. */
function cacheOf({ hit = 0, stale = 0, coalesced = 0, miss = 0 }: ActivityReading['cache']): object {
  const hits = hit + stale + coalesced
  return { hits, misses: miss, hitRate: hits + miss === 0 ? null : hits / (hits + miss) }
}

function linksOf(
  config: GatewayConfig,
  paths: GatewayPaths,
): readonly { readonly label: string; readonly href: string }[] {
  const { metrics = config.preset !== 'production' } = config
  return [
    ...(httpSettings(config).graphiql ? [{ label: 'GraphiQL', href: paths.graphql }] : []),
    ...(metrics === false ? [] : [{ label: 'Metrics', href: METRICS_PATH }]),
    { label: 'Readiness', href: paths.ready },
  ]
}
