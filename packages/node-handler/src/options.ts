export interface NodeHandlerOptions {
  /**
   * The most bytes that the body of a request served by the fast path may have; one more is answered with 413 before
   * the rest is read. Counted as the bytes arrive, so it holds for chunked bodies too. It applies beside Yoga's own
   * `maxRequestBodySize`, which the fast path honours: the smaller of the two decides. `0` allows only empty bodies.
   * Default: Yoga's limit alone.
   */
  readonly maxBodyBytes?: number | undefined
}
