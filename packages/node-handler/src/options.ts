export interface NodeHandlerOptions {
  /**
   * Maximum body size in bytes of requests on the fast path. Larger bodies get 413 before the rest is read. Bytes are
   * counted as they arrive, also in chunked bodies. The fast path also enforces Yoga's `maxRequestBodySize`, so the
   * smaller limit applies. `0` allows only empty bodies. Default: only Yoga's limit.
   */
  readonly maxBodyBytes?: number | undefined
}
