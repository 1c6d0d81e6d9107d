import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, TLSSocket } from 'node:tls'
import { GrpcTransportError } from '../errors.ts'
import type { ResolvedEndpoint, TlsOptions } from '../endpoint.ts'
import { createTlsContext } from '../tls-context.ts'
import { Connection } from './connection.ts'
import type { PoolOptions } from './pool.ts'
import { parseTarget, type SocketAddress, type Target } from './target.ts'

type OpenSocket = (address: SocketAddress, onread: OnReadOpts) => Socket

/** An endpoint as the other parts use it. */
export interface Connector extends Pick<PoolOptions, 'connection'> {
  readonly target: Target
  readonly scheme: 'http' | 'https'
  readonly authority: string
}

/** @throws GrpcTransportError when the address or the certificates cannot be read */
export function createConnector({ address, tls, channel }: ResolvedEndpoint): Connector {
  const { connectTimeoutMs = 900 } = channel
  if (channel.raw) {
    throw new GrpcTransportError(
      'channel.raw is only supported by the transport "grpc-js"; set transport: "grpc-js", or use the other channel options',
    )
  }
  let { keepalive } = channel
  const target = parseTarget(address)
  const open: OpenSocket = tls
    ? createTlsOpener(address, target, tls)
    : (socketAddress, onread) => connectTcp({ ...socketAddress, onread })

  return {
    target,
    scheme: tls ? 'https' : 'http',
    authority: tls?.serverName ?? target.authority,
    connection: (socketAddress, events) =>
      new Connection({
        ...events,
        connectTimeoutMs,
        openSocket: (onread) => open(socketAddress, onread).setNoDelay(true),
        checkSocket: (socket) =>
          socket instanceof TLSSocket && socket.alpnProtocol !== 'h2'
            ? 'the server did not select HTTP/2 (ALPN) in the TLS handshake; enable HTTP/2 on the server'
            : undefined,
        keepalive: () => keepalive,
        onTooManyPings() {
          // gRPC asks that the next connection pings half as often.
          if (keepalive) keepalive = { ...keepalive, timeMs: keepalive.timeMs * 2 }
        },
      }),
  }
}

function createTlsOpener(address: string, target: Target, tls: TlsOptions): OpenSocket {
  const { serverName } = tls
  const secureContext = createTlsContext(address, tls)
  return (socketAddress, onread) => {
    const name =
      serverName ?? target.hostName ?? ('host' in socketAddress ? socketAddress.host : target.authority)
    return connectTls({
      ...socketAddress,
      secureContext,
      ALPNProtocols: ['h2'],
      ...(isIP(name) ? {} : { servername: name }),
      checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    }).on('data', (bytes: Buffer) => onread.callback(bytes.length, bytes))
  }
}
