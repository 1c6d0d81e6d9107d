import { optionError } from '../errors.ts'
import {
  createTlsContext,
  GrpcTransportError,
  type ChannelOptions,
  type ResolvedEndpoint,
  type TlsOptions,
} from '@vinyasa/grpc-transport'

/** An endpoint: `host:port`, `http://host:port` (plaintext) or `https://host:port` (TLS). */
export type Endpoint =
  | string
  | {
      /** `host:port`, a URL, or a target such as `unix:/run/users.sock`. */
      readonly address: string
      /** TLS for this address. Default: the source's `tls`. */
      readonly tls?: boolean | TlsOptions | undefined
    }

/** Resolves an endpoint to its address and TLS options. `path` is the path of the option. */
export function resolveEndpoint(
  path: readonly string[],
  endpoint: Endpoint,
  defaultTls: boolean | TlsOptions | undefined,
  channel: ChannelOptions,
): ResolvedEndpoint {
  const { address: written, tls = defaultTls } =
    typeof endpoint === 'string' ? { address: endpoint } : endpoint
  const match = /^(?:(https?):\/\/)?([^/]+)\/?$/.exec(written)
  const isTarget = /^(unix|unix-abstract|dns|ipv4|ipv6|xds):/.test(written)
  if (!match && !isTarget) {
    throw optionError(
      path,
      `the endpoint "${written}" is not a valid address; write "host:port", "http://host:port" or "https://host:port"`,
    )
  }
  const [, scheme, host = written] = isTarget ? [undefined, undefined, written] : (match ?? [])
  const address = isTarget || /:\d+$/.test(host) ? host : `${host}:${scheme === 'http' ? 80 : 443}`
  const used = toTls(scheme, tls)
  // Reports an unreadable certificate at start, for all transports.
  if (used) asOptionsError(['tls'], () => createTlsContext(address, used))
  return { address, tls: used, channel }
}

/** Reports a `GrpcTransportError` as an error in the options. */
export function asOptionsError<T>(path: readonly string[], make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof GrpcTransportError)) throw error
    throw optionError(path, error.message, error)
  }
}

function toTls(scheme: string | undefined, tls: boolean | TlsOptions | undefined): TlsOptions | undefined {
  if (typeof tls === 'object') return tls
  if (scheme === 'http') return undefined
  return tls === true || scheme === 'https' ? {} : undefined
}
