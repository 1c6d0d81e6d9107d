import { boundedFetch, findingsAt, findingsOf } from '@vinyasa/core'
import {
  createRestConnector,
  describeFinding,
  importOpenApi,
  type OpenApiImport,
  type OpenApiOptions,
  useRestConnector,
  type RestConnectorOptions,
} from '@vinyasa/rest-connector'
import type { OpenApiConfig, RestSourceConfig } from '../types.ts'
import { ConfigError, firstLine, mistakesAt, reasonOf } from '../../errors.ts'
import { placeOf } from '../files.ts'
import { type Outage, outageOf, reportHealth } from '../../logging/outage.ts'
import { namesOfSchema, namesToAvoid } from '../names.ts'
import type { Source, SourceEnvironment, SourceHealth } from '../source.ts'
import { type CallKind, endedBy, type ObserveBackendCall } from '../../observability/backend-call.ts'

const KIND: CallKind = {
  name: 'rest',
  spanName: (source, call) => `${source}.${call}`,
  spanAttributes: (call) => ({ 'vinyasa.endpoint': call }),
  statusAttribute: 'http.response.status_code',
}

/** For the `observe` option of a REST connector, which is told of each attempt. */
function forRest(observe: ObserveBackendCall, outage: Outage): NonNullable<RestConnectorOptions['observe']> {
  return ({ connector, endpoint, attempt, context }) => {
    const ended = observe({ source: connector, kind: KIND, name: endpoint, context })
    return endedBy(ended, ({ status, error, isUnavailable, callerLeft = false }) => {
      if (isUnavailable && !callerLeft)
        outage.failed(error, status === undefined ? reasonOf : () => `HTTP ${status}`)
      else if (status !== undefined) outage.worked()
      return {
        status: status === undefined ? 'no answer' : String(status),
        failed: error !== undefined && !callerLeft,
        retries: attempt > 1 ? 1 : 0,
      }
    })
  }
}

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
  const { interceptors = [], forwardHeaders = [], ...options } = rest
  const notes: string[] = []
  let imported: OpenApiImport | undefined
  let connector
  let baseUrl
  let outage: Outage
  try {
    if (openapi !== undefined)
      imported = await importDocument(openapi, baseDirectory, {
        source: name,
        baseUrl: config.baseUrl,
        taken: namesToAvoid(config, taken()),
      })
    for (const finding of imported?.findings ?? []) notes.push(describeFinding(finding))
    for (const one of imported?.variables ?? [])
      // Nobody misses a variable if another credential is there for each operation.
      if (one.isSet || one.isMissed) notes.push(describeVariable(one))
    baseUrl = imported?.baseUrl ?? config.baseUrl
    if (baseUrl === undefined)
      throw new ConfigError(
        `baseUrl is missing; set it to the URL of the API${openapi === undefined ? '' : ', or add the URL to servers in the OpenAPI document'}`,
      )
    outage = outageOf(logger, { name, kind: 'rest', address: baseUrl })
    connector = createRestConnector(name, {
      ...options,
      endpoints: [...(imported?.endpoints ?? []), ...endpoints],
      types: { ...imported?.types, ...types },
      typeNames: imported?.typeNames ?? {},
      baseUrl,
      forwardHeaders: [...new Set([...forwardHeaders, ...(imported?.forwardHeaders ?? [])])],
      bus,
      logger: { info: (message, details) => logger.info({ details }, message) },
      interceptors: [...(imported?.interceptors ?? []), ...interceptors],
      onPlan: (event) => logger.debug(event, `rest source "${name}": ${event.outcome}`),
      observe: forRest(observability.observe, outage),
    })
  } catch (error) {
    throw mistakesAt(['rest', name], error, ({ path = [] }) => asWritten(path, imported))
  }
  for (const note of notes.slice(0, MAX_LOGGED_NOTES)) logger.warn(note)
  const left = notes.length - MAX_LOGGED_NOTES
  if (left > 0)
    logger.warn(
      `rest.${name}: ${left} more ${left === 1 ? 'note' : 'notes'}; run vinyasa check to list all of them`,
    )
  const probe = probeOf(baseUrl, healthPath)
  return {
    name,
    kind: 'rest',
    plugin: useRestConnector(connector),
    api: connector,
    callMember: 'execute',
    variesBy: connector.variesBy,
    notes,
    files: imported?.files ?? [],
    names: () => namesOfSchema(connector.schema),
    health: async (signal) => reportHealth(outage, await checkHealth(name, probe, signal)),
    breaker: () => connector.stats().breaker,
    close: () => connector.close(),
  }
}

/** Where the config has an option of the connector: endpoints of the document come before its own. */
function asWritten(
  path: readonly PropertyKey[],
  { endpoints }: Pick<OpenApiImport, 'endpoints'> = { endpoints: [] },
): readonly PropertyKey[] {
  const [setting, index, ...inside] = path
  if (setting !== 'endpoints' || typeof index !== 'number') return path
  return index < endpoints.length ? ['openapi'] : [setting, index - endpoints.length, ...inside]
}

async function importDocument(
  openapi: string | OpenApiConfig,
  baseDirectory: string,
  given: Pick<OpenApiOptions, 'source' | 'baseUrl' | 'taken'>,
): Promise<OpenApiImport> {
  const { file = '', url, ...options } = placeOf(openapi, baseDirectory)
  try {
    return await importOpenApi(url ?? file, { ...options, ...given })
  } catch (error) {
    const fix =
      url === undefined
        ? ''
        : '; the gateway downloads the document at each start; to use a local copy, run "vinyasa init <url>" and set openapi.file'
    const findings = findingsOf(error).map((one) => ({ ...one, message: `${firstLine(one.message)}${fix}` }))
    throw new ConfigError(findingsAt(['openapi'], findings), { cause: error })
  }
}

function describeVariable({ variable, schemes, isSet }: OpenApiImport['variables'][number]): string {
  const names = schemes.map((name) => `"${name}"`).join(', ')
  return isSet
    ? `the environment variable ${variable} provides the credentials for the security scheme ${names}`
    : `the environment variable ${variable} is not set, but the security scheme ${names} requires credentials; set the variable, or set openapi.security to false`
}

/** A `GET` must return 2xx. Any response to `HEAD`, which changes nothing, shows that the API is reachable. */
function probeOf(baseUrl: string, healthPath: RestSourceConfig['healthPath']) {
  if (healthPath === false) return undefined
  return healthPath === undefined
    ? { url: new URL(baseUrl), method: 'HEAD' as const }
    : { url: joinUrl(baseUrl, healthPath), method: 'GET' as const }
}

async function checkHealth(
  name: string,
  probe: ReturnType<typeof probeOf>,
  signal: AbortSignal,
): Promise<SourceHealth> {
  if (!probe) return { name, healthy: true }
  const { url, method } = probe
  try {
    const { ok, status } = await boundedFetch(url, { method, signal, maxBytes: 0, maxRedirects: 0 })
    return ok || method === 'HEAD'
      ? { name, healthy: true }
      : { name, healthy: false, reason: `HTTP ${status} from ${url.href}` }
  } catch (error) {
    return { name, healthy: false, reason: signal.aborted ? 'no response' : reasonOf(error) }
  }
}

function joinUrl(base: string, path: string): URL {
  return new URL(`${base.replace(/(?<!\/)\/+$/, '')}/${path.replace(/^\/+/, '')}`)
}
