/** The first process of the workers stands still, so that they hear nothing of each other. */
export class WorkersOutOfTouchError extends Error {
  override readonly name = 'WorkersOutOfTouchError'
  readonly code = 'WORKERS_OUT_OF_TOUCH'

  constructor(silentMs: number) {
    super(
      `the primary process has not responded for ${silentMs / 1_000} s, so workers do not receive invalidation events from each other; ` +
        'until the primary process responds, workers do not use their caches, and live queries wait. Check whether the primary process is stopped or short of CPU',
    )
  }
}

/** The first process stands still, so that a scrape cannot be answered for all workers. */
export class MetricsOutOfReachError extends Error {
  override readonly name = 'MetricsOutOfReachError'
  readonly code = 'METRICS_OUT_OF_REACH'
  readonly status = 503

  constructor(silentMs: number) {
    super(
      `the primary process has not responded for ${silentMs / 1_000} s, so the metrics of the other workers are missing. ` +
        'Check whether the primary process is stopped or short of CPU',
    )
  }
}
