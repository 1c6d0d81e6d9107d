import {
  createGrpcSource,
  useGrpcSource,
  type GrpcSource,
  type GrpcSourceOptions,
} from '@vinyasa/grpc-source'
import type { GrpcSourceConfig } from '../types.ts'
import { mistakesAt } from '../../errors.ts'
import { checkFolders, placeOfFile, withAbsolutePaths } from '../files.ts'
import { outageOf, reportHealth, type Outage } from '../../logging/outage.ts'
import { namesOfSchema } from '../names.ts'
import type { Source, SourceEnvironment, SourceHealth } from '../source.ts'
import { keyed } from '@vinyasa/core'
import { type CallKind, endedBy, type ObserveBackendCall } from '../../observability/backend-call.ts'
import { readPemTexts } from '../../texts/pem-texts.ts'

type Tls = GrpcSourceConfig['tls']
type Endpoint = NonNullable<GrpcSourceConfig['endpoint']>

/** The settings of a source that may name PEM files, with what is in these. Throws `ConfigError` for what is none. */
export async function withTlsTexts(
  { tls, endpoint, endpoints }: GrpcSourceConfig,
  baseDirectory: string,
): Promise<Pick<GrpcSourceConfig, 'tls' | 'endpoint' | 'endpoints'>> {
  const read = async (given: Tls, path: readonly PropertyKey[]): Promise<Tls> => {
    if (typeof given !== 'object') return given
    const { serverName } = given
    return {
      ...(serverName !== undefined && { serverName }),
      ...(await readPemTexts(path, given, baseDirectory)),
    }
  }
  const withTexts = async (given: Endpoint, path: readonly PropertyKey[]): Promise<Endpoint> =>
    typeof given === 'string' ? given : { ...given, tls: await read(given.tls, [...path, 'tls']) }
  const ofServices = Object.entries(endpoints ?? {}).map(
    async ([service, one]) => [service, await withTexts(one, ['endpoints', service])] as const,
  )
  return {
    tls: await read(tls, ['tls']),
    endpoint: endpoint && (await withTexts(endpoint, ['endpoint'])),
    endpoints: endpoints && Object.fromEntries(await Promise.all(ofServices)),
  }
}

const KIND: CallKind = {
  name: 'grpc',
  spanName: (_source, call) => call,
  spanAttributes: (call) => ({ 'rpc.system.name': 'grpc', 'rpc.method': call }),
  statusAttribute: 'rpc.status_code',
}

/** For the `observe` option of a gRPC source. */
function forGrpc(observe: ObserveBackendCall, outage: Outage): NonNullable<GrpcSourceOptions['observe']> {
  // Made once: whoever looks a call up by a text that is put together anew has it hashed anew.
  const nameOf = keyed((service: string) => keyed((method: string) => `${service}/${method}`))
  return ({ source, service, method, context }) => {
    const ended = observe({ source, kind: KIND, name: nameOf(service)(method), context })
    return endedBy(ended, ({ status, reason, isReached, attempts, callerLeft }) => {
      if (isReached === false) outage.failed(reason, String)
      else if (isReached) outage.worked()
      return {
        status,
        failed: status !== 'OK' && !callerLeft,
        retries: Math.max(0, attempts - 1),
      }
    })
  }
}

/** Opens one entry of the config's `grpc`. */
export async function openGrpcSource(
  name: string,
  config: GrpcSourceConfig,
  { baseDirectory, bus, logger, observability }: SourceEnvironment,
): Promise<Source> {
  const { endpoint } = config
  const address = typeof endpoint === 'object' ? endpoint.address : endpoint
  const outage = outageOf(logger, { name, kind: 'grpc', address })
  let source: GrpcSource
  try {
    checkFolders(config, baseDirectory)
    source = await createGrpcSource({
      ...withAbsolutePaths(config, baseDirectory),
      ...(await withTlsTexts(config, baseDirectory)),
      name,
      bus,
      observe: forGrpc(observability.observe, outage),
      onPlan: (event) => logger.debug(event, `grpc source "${name}": ${event.outcome}`),
      logger: {
        warn: (message) => logger.warn(message),
        error: (message, error) => logger.error(error, message),
      },
    })
  } catch (error) {
    throw mistakesAt(
      ['grpc', name],
      error,
      ({ path, file }) => path ?? placeOfFile(file, config, baseDirectory),
    )
  }
  source.contribution.onChange?.(() =>
    logger.info({ source: name, address }, `grpc source "${name}": schema reloaded`),
  )
  return {
    name,
    kind: 'grpc',
    plugin: useGrpcSource(source),
    api: source,
    callMember: 'call',
    variesBy: source.variesBy,
    get files() {
      return source.files
    },
    get notes() {
      return source.notes
    },
    names: () => namesOfSchema(source.schema),
    health: async (signal) => reportHealth(outage, await checkHealth(source, signal)),
    close: () => source.close(),
  }
}

async function checkHealth(source: GrpcSource, signal: AbortSignal): Promise<SourceHealth> {
  const { status, endpoints } = await source.health({ signal })
  if (status === 'SERVING') return { name: source.name, healthy: true }
  const down = endpoints.filter((endpoint) => endpoint.status !== 'SERVING')
  const reason = down
    .map((endpoint) => `${endpoint.address}: ${endpoint.detail ?? endpoint.reason ?? endpoint.status}`)
    .join(', ')
  return { name: source.name, healthy: false, reason }
}
