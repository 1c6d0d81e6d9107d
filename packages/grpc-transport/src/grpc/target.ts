import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { GrpcTransportError } from '../errors.ts'

/** The address at which one server process listens. */
export type SocketAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** An endpoint's address, read. */
export interface Target {
  /** The value that goes out as `:authority`. */
  readonly authority: string
  /** The name that certificates are checked against; undefined: the address itself. */
  readonly hostName: string | undefined
  /** Whether `resolve` may answer differently another time. */
  readonly isNamed: boolean
  resolve(): Promise<readonly SocketAddress[]>
}

const DEFAULT_PORT = 443

/**
 * Reads the forms of gRPC's name syntax that need no resolver of their own.
 * @throws GrpcTransportError for every other form
 */
export function parseTarget(address: string): Target {
  const [, scheme, rest = ''] = /^(unix|unix-abstract|dns|ipv4|ipv6|xds):(.*)$/.exec(address) ?? []
  switch (scheme) {
    case undefined:
      return parseNames(address, address)
    case 'dns':
      // `dns:host:port` or `dns:///host:port`; between the slashes a name server could stand.
      return parseNames(address, rest.replace(/^\/\/\//, ''))
    case 'ipv4':
    case 'ipv6':
      return fixed(
        rest.split(',')[0] ?? '',
        rest.split(',').map((one) => parseHostPort(address, one)),
      )
    case 'unix':
      return fixed('localhost', [{ path: rest.startsWith('//') ? rest.slice(2) : rest }])
    default:
      throw targetError(
        address,
        'the scheme is only supported by the transport "grpc-js"; set transport: "grpc-js"',
      )
  }
}

function parseNames(address: string, hostPort: string): Target {
  const one = parseHostPort(address, hostPort)
  const isIp = isIPv6(one.host) || /^[\d.]+$/.test(one.host)
  if (isIp) return fixed(hostPort, [one])
  return {
    authority: hostPort,
    hostName: one.host,
    isNamed: true,
    async resolve() {
      const found = await lookup(one.host, { all: true })
      return found.map(({ address: host }) => ({ host, port: one.port }))
    },
  }
}

function fixed(authority: string, addresses: readonly SocketAddress[]): Target {
  return { authority, hostName: undefined, isNamed: false, resolve: () => Promise.resolve(addresses) }
}

function parseHostPort(address: string, written: string): { host: string; port: number } {
  if (isIPv6(written)) return { host: written, port: DEFAULT_PORT }
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:/[\]]+))(?::(\d{1,5}))?$/.exec(written) ?? []
  const host = bracketed ?? plain
  if (host === undefined || (bracketed !== undefined && !isIPv6(bracketed)) || Number(port ?? 0) > 65_535) {
    throw targetError(address, 'write "host:port", "dns:///host:port", "ipv4:1.2.3.4:port" or "unix:/path"')
  }
  return { host, port: port === undefined ? DEFAULT_PORT : Number(port) }
}

function targetError(address: string, fix: string): GrpcTransportError {
  return new GrpcTransportError(`the endpoint "${address}" is not supported: ${fix}`)
}
