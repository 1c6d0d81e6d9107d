export interface TlsOptions {
  /** PEM of the authorities to trust. Default: Node's. */
  readonly ca?: string | Uint8Array | undefined
  /** PEM of the client's certificate, for mTLS. */
  readonly cert?: string | Uint8Array | undefined
  /** PEM of the client's key, for mTLS. */
  readonly key?: string | Uint8Array | undefined
  /** The name to verify in place of the address's. */
  readonly serverName?: string | undefined
}

export interface ChannelOptions {
  /**
   * Pings while calls are in flight: after `timeMs` of silence, given up after `timeoutMs`.
   * Default: none. Servers other than grpc-js refuse pings more often than they were told to expect.
   */
  readonly keepalive?:
    | {
        /** Milliseconds of silence before a ping. */
        readonly timeMs: number
        /** Milliseconds that its answer is waited for. */
        readonly timeoutMs: number
      }
    | undefined
  /** Bytes of one reply's message. Default 4 MiB. */
  readonly maxReceiveBytes?: number | undefined
  /** Bytes of one request's message. Default: no limit. */
  readonly maxSendBytes?: number | undefined
  /** Compresses requests. Default none. */
  readonly compression?: 'gzip' | 'deflate' | undefined
  /** Concurrent calls on one connection before another is opened. Default 100, what most servers accept. */
  readonly maxConcurrentCalls?: number | undefined
  /** Connections to one endpoint. Default 8. */
  readonly maxConnections?: number | undefined
  /**
   * Milliseconds for a connection to come to stand, handshakes included. Then its calls fail with UNAVAILABLE and the
   * connection is made anew. Default 900; 0: only the calls' deadlines count.
   */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Milliseconds after which a name is looked up again, while there are calls; they go on meanwhile, and then to all addresses
   * that it has now. Also whenever a connection is lost. Default 30,000; 0: only then. Not for the transport `grpc-js`.
   */
  readonly lookupEveryMs?: number | undefined
  /** For the transport `grpc-js` only: passed to it as they are; win over everything above. */
  readonly raw?: Readonly<Record<string, string | number>> | undefined
}

export interface ResolvedEndpoint {
  /** `host:port` */
  readonly address: string
  readonly tls: TlsOptions | undefined
  readonly channel: ChannelOptions
}
