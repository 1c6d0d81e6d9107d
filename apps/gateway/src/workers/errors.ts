/** The first process of the workers stands still, so that they hear nothing of each other. */
export class WorkersOutOfTouchError extends Error {
  override readonly name = 'WorkersOutOfTouchError'
  readonly code = 'WORKERS_OUT_OF_TOUCH'

  constructor(silentMs: number) {
    super(
      `the first process has not answered for ${silentMs / 1_000} s, so the other workers were told of no change; ` +
        'until it does they answer without their caches, and live queries wait. See whether it is stopped, or starved of CPU',
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
      `the first process has not answered for ${silentMs / 1_000} s, so the metrics of the other workers are not known. ` +
        'See whether it is stopped, or starved of CPU',
    )
  }
}
