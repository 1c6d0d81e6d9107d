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
   * Sends pings while calls are in flight. Servers other than grpc-js refuse pings that are more frequent than they expect.
   * Default: none.
   */
  readonly keepalive?:
    | {
        /** Milliseconds of silence before a ping. */
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
  /** Concurrent calls on one connection before another one is opened. Most servers accept the default. Default 100. */
  readonly maxConcurrentCalls?: number | undefined
  /** Maximum connections to one address. Default 8. */
  readonly maxConnections?: number | undefined
  /**
   * Timeout in milliseconds for opening a connection, including handshakes. Its calls then fail with UNAVAILABLE, and the
   * transport reconnects. Default 900; 0: only the calls' deadlines apply.
   */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Milliseconds after which a name is looked up again while there are calls. New calls then use all current addresses. A
   * lost connection always causes a lookup. The transport `grpc-js` ignores this option. Default 30,000; 0: only after a lost
   * connection.
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
