export interface TlsOptions {
  /** PEM of the trusted certificate authorities. Default: Node's. */
  readonly ca?: string | Uint8Array | undefined
  /** PEM of the client certificate, for mTLS. */
  readonly cert?: string | Uint8Array | undefined
  /** PEM of the client key, for mTLS. */
  readonly key?: string | Uint8Array | undefined
  /** The server name to verify. Default: the host of the address. */
  readonly serverName?: string | undefined
}

export interface ChannelOptions {
  /**
   * Sends pings while calls are in flight. Servers other than grpc-js refuse pings that are more frequent than they
   * expect. Default: none.
   */
  readonly keepalive?:
    | {
        /** Milliseconds without received data before a ping is sent. */
        readonly timeMs: number
        /** Milliseconds to wait for the response to a ping. */
        readonly timeoutMs: number
      }
    | undefined
  /** Maximum bytes of a reply message. Default 4 MiB. */
  readonly maxReceiveBytes?: number | undefined
  /** Maximum bytes of a request message. Default: no limit. */
  readonly maxSendBytes?: number | undefined
  /** Compression of requests. Default none. */
  readonly compression?: 'gzip' | 'deflate' | undefined
  /**
   * Maximum concurrent calls on one connection before another connection is opened. Default 100, which most servers
   * accept.
   */
  readonly maxConcurrentCalls?: number | undefined
  /** Maximum connections to one address. Default 8. */
  readonly maxConnections?: number | undefined
  /**
   * Timeout in milliseconds for opening a connection, including handshakes. Its calls then fail with UNAVAILABLE, and
   * the transport reconnects. Default 900; 0: only the calls' deadlines apply.
   */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Milliseconds between two DNS lookups of the address while there are calls. Calls continue during a lookup, and
   * later calls use all current addresses. A lost connection also triggers a lookup. Default 30,000; 0 disables the
   * interval. The `grpc-js` transport ignores it.
   */
  readonly lookupEveryMs?: number | undefined
  /** Options that are passed unchanged to the transport `grpc-js`. They override the options above. */
  readonly raw?: Readonly<Record<string, string | number>> | undefined
}

export interface ResolvedEndpoint {
  /** `host:port` */
  readonly address: string
  readonly tls: TlsOptions | undefined
  readonly channel: ChannelOptions
}
