import { resolve } from 'node:path'
import {
  createRestConnector,
  endpointsFromOpenApi,
  useRestConnector,
  type CallInfo,
  type OutgoingRequest,
  type RequestInterceptor,
  type RestEndpoint,
} from '@vinyasa/rest-connector'
import type { RestSourceConfig } from '../config/types.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { forRest } from '../observability/backend-call.ts'
import type { Source, SourceEnvironment, SourceHealth } from './source.ts'

/** Opens one entry of the config's `rest`. */
export async function openRestSource(
  name: string,
  config: RestSourceConfig,
  { baseDirectory, bus, logger, observability }: SourceEnvironment,
): Promise<Source> {
  const { healthPath, openapi, endpoints = [], observe, onPlan, interceptors = [], ...options } = config
  const { outgoing } = observability
  const observed = forRest(observability.observe)
  const notes: string[] = []
  let connector
  try {
    const imported =
      openapi === undefined ? [] : await importEndpoints(resolve(baseDirectory, openapi), notes)
    connector = createRestConnector(name, {
      ...options,
      endpoints: [...imported, ...endpoints],
      bus,
      logger: { info: (message, details) => logger.info({ details }, message) },
      interceptors: outgoing ? [...interceptors, traceContext(outgoing)] : interceptors,
      onPlan(event) {
        logger.debug(event, `rest source "${name}": ${event.outcome}`)
        onPlan?.(event)
      },
      observe: (info) => {
        const ends = [observed(info), observe?.(info)]
        return (outcome) => {
          for (const ended of ends) ended?.(outcome)
        }
      },
    })
  } catch (error) {
    throw new ConfigError(`rest.${name}: ${messageOf(error)}`, { cause: error })
  }
  for (const note of notes) logger.warn(note)
  const healthUrl = healthPath === undefined ? undefined : joinUrl(options.baseUrl, healthPath)
  return {
    name,
    kind: 'rest',
    plugin: useRestConnector(connector),
    api: connector,
    notes,
    health: (signal) => checkHealth(name, healthUrl, signal),
    breaker: () => connector.stats().breaker,
    close: () => connector.close(),
  }
}

function traceContext(
  outgoing: NonNullable<SourceEnvironment['observability']['outgoing']>,
): RequestInterceptor {
  const interceptor = (request: OutgoingRequest, { context }: CallInfo): void => {
    for (const [name, value] of Object.entries(outgoing(context))) request.headers.set(name, value)
  }
  // No answer depends on where it is traced.
  return Object.assign(interceptor, { readsHeaders: [] })
}

function importEndpoints(file: string, notes: string[]): Promise<RestEndpoint[]> {
  return endpointsFromOpenApi(file, {
    onSkip: ({ method, path }, reason) =>
      void notes.push(`${file}: ${method} ${path} is left out: ${reason}`),
  })
}

/** A REST API without a `healthPath` counts as healthy: there is no request that is safe to send to any API. */
async function checkHealth(name: string, url: URL | undefined, signal: AbortSignal): Promise<SourceHealth> {
  if (!url) return { name, healthy: true }
  try {
    const response = await fetch(url, { signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.ok
      ? { name, healthy: true }
      : { name, healthy: false, reason: `HTTP ${response.status} from ${url.href}` }
  } catch (error) {
    return { name, healthy: false, reason: reasonOf(error) }
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error)
}

function joinUrl(base: string, path: string): URL {
  return new URL(`${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`)
}
