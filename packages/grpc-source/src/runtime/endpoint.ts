import { GrpcSourceError } from '../errors.ts'
import {
  createTlsContext,
  GrpcTransportError,
  type ChannelOptions,
  type ResolvedEndpoint,
  type TlsOptions,
} from '@vinyasa/grpc-transport'

export type { ChannelOptions, ResolvedEndpoint, TlsOptions } from '@vinyasa/grpc-transport'

/** One endpoint: `host:port`, `http://host:port` (plaintext) or `https://host:port` (TLS). */
export type Endpoint =
  | string
  | {
      /** `host:port`, a URL, or a target such as `unix:/run/users.sock`. */
      readonly address: string
      /** For this address alone. Default: the source's `tls`. */
      readonly tls?: boolean | TlsOptions | undefined
    }

/** Brings an endpoint, however written, to address and TLS. */
export function resolveEndpoint(
  endpoint: Endpoint,
  defaultTls: boolean | TlsOptions | undefined,
  channel: ChannelOptions,
): ResolvedEndpoint {
  const { address: written, tls = defaultTls } =
    typeof endpoint === 'string' ? { address: endpoint } : endpoint
  const match = /^(?:(https?):\/\/)?([^/]+)\/?$/.exec(written)
  const isTarget = /^(unix|unix-abstract|dns|ipv4|ipv6|xds):/.test(written)
  if (!match && !isTarget) {
    throw new GrpcSourceError(
      'GRPC_SOURCE_OPTIONS',
      `the endpoint "${written}" is no address; write "host:port", "http://host:port" or "https://host:port"`,
    )
  }
  const [, scheme, host = written] = isTarget ? [undefined, undefined, written] : (match ?? [])
  const address = isTarget || /:\d+$/.test(host) ? host : `${host}:${scheme === 'http' ? 80 : 443}`
  return { address, tls: checked(address, toTls(scheme, tls)), channel }
}

/** Whatever the transport: a certificate that cannot be read is told at start. */
function checked(address: string, tls: TlsOptions | undefined): TlsOptions | undefined {
  try {
    if (tls) createTlsContext(address, tls)
    return tls
  } catch (error) {
    if (!(error instanceof GrpcTransportError)) throw error
    throw new GrpcSourceError('GRPC_SOURCE_OPTIONS', error.message, { cause: error })
  }
}

function toTls(scheme: string | undefined, tls: boolean | TlsOptions | undefined): TlsOptions | undefined {
  if (typeof tls === 'object') return tls
  if (scheme === 'http') return undefined
  return tls === true || scheme === 'https' ? {} : undefined
}
