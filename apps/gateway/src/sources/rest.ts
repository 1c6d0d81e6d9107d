import { resolve } from 'node:path'
import {
  createRestConnector,
  describeFinding,
  importOpenApi,
  type OpenApiImport,
  type OpenApiOptions,
  useRestConnector,
  type CallInfo,
  type OutgoingRequest,
  type RequestInterceptor,
  type SecurityVariable,
} from '@vinyasa/rest-connector'
import type { OpenApiConfig, RestSourceConfig } from '../config/types.ts'
import { ConfigError, messageOf, reasonOf } from '../errors.ts'
import { forRest } from '../observability/backend-call.ts'
import { namesOfEndpoints } from './names.ts'
import type { Source, SourceEnvironment, SourceHealth } from './source.ts'

/** A document may give a thousand: the log tells the first, `vinyasa check` all. */
const MAX_LOGGED_NOTES = 20

/** Opens one entry of the config's `rest`; what it imports gets none of the `taken` names. */
export async function openRestSource(
  name: string,
  config: RestSourceConfig,
  { baseDirectory, bus, logger, observability }: SourceEnvironment,
  taken: () => readonly string[],
): Promise<Source> {
  const { healthPath, openapi, endpoints = [], types = {}, ...rest } = config
  const { observe, onPlan, interceptors = [], forwardHeaders = [], ...options } = rest
  const { outgoing } = observability
  const observed = forRest(observability.observe)
  const notes: string[] = []
  let connector
  let baseUrl
  let declared: Pick<OpenApiImport, 'endpoints' | 'types'>
  try {
    const imported =
      openapi === undefined
        ? undefined
        : await importDocument(openapi, baseDirectory, {
            source: name,
            baseUrl: config.baseUrl,
            taken: taken(),
          })
    for (const finding of imported?.findings ?? []) notes.push(describeFinding(finding))
    for (const one of imported?.variables ?? []) notes.push(describeVariable(one))
    baseUrl = imported?.baseUrl ?? config.baseUrl
    if (baseUrl === undefined)
      throw new ConfigError(
        'baseUrl is missing; set it to the address of the API, or name a server in the document',
      )
    declared = {
      endpoints: [...(imported?.endpoints ?? []), ...endpoints],
      types: { ...imported?.types, ...types },
    }
    connector = createRestConnector(name, {
      ...options,
      ...declared,
      baseUrl,
      forwardHeaders: [...new Set([...forwardHeaders, ...(imported?.forwardHeaders ?? [])])],
      bus,
      logger: { info: (message, details) => logger.info({ details }, message) },
      interceptors: [
        ...(imported?.interceptors ?? []),
        ...interceptors,
        ...(outgoing ? [traceContext(outgoing)] : []),
      ],
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
  for (const note of notes.slice(0, MAX_LOGGED_NOTES)) logger.warn(note)
  const left = notes.length - MAX_LOGGED_NOTES
  if (left > 0) logger.warn(`rest.${name}: ${left} notes more; vinyasa check lists all of them`)
  const healthUrl = healthPath === undefined ? undefined : joinUrl(baseUrl, healthPath)
  return {
    name,
    kind: 'rest',
    plugin: useRestConnector(connector),
    api: connector,
    notes,
    names: () => namesOfEndpoints(declared.endpoints, declared.types),
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

function importDocument(
  openapi: string | OpenApiConfig,
  baseDirectory: string,
  given: Pick<OpenApiOptions, 'source' | 'baseUrl' | 'taken'>,
): Promise<OpenApiImport> {
  const { file, ...options } = typeof openapi === 'string' ? { file: openapi } : openapi
  return importOpenApi(resolve(baseDirectory, file), { ...options, ...given })
}

function describeVariable({ variable, scheme, isSet }: SecurityVariable): string {
  return isSet
    ? `${variable} is set, for the security scheme "${scheme}"`
    : `${variable} is not set, which the security scheme "${scheme}" wants; set it, or security: false under openapi`
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

function joinUrl(base: string, path: string): URL {
  return new URL(`${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`)
}
