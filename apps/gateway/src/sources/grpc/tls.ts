import type { GrpcSourceConfig } from '../types.ts'
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
