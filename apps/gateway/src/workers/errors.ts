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
