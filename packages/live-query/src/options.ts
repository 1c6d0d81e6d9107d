import { atLeast, type Clock, flag, type KnownOptions, type LiveOptions } from '@vinyasa/base'

/** How re-execution is decided. Specification: "Strategies". */
export type LiveQueryStrategy = NonNullable<LiveOptions['strategy']>

/** Merging of rapid events. Specification: "Batch invalidation configuration". */
export interface BatchOptions {
  /** Whether rapid events are collected. Default: where `throttleMs` is above 0. */
  readonly enabled?: boolean | undefined
  /** Wait for this much quiet. Default 50. */
  readonly debounceMs?: number | undefined
  /** Do not wait for quiet once this many events are collected. Default 100. */
  readonly maxBatchSize?: number | undefined
  /** Do not wait for quiet longer than this after the first event. Default 500. */
  readonly maxWaitMs?: number | undefined
}

export interface LiveQueryStoreOptions {
  /** How rapid events become one update. */
  readonly batch?: BatchOptions | undefined
  /** Live subscriptions of the whole server; one over is refused with `LIVE_QUERY_LIMIT`. Default 10 000. */
  readonly maxSubscriptions?: number | undefined
  /**
   * Ends a live query with the errors of its last run, once it has failed this many times in a row and never brought any
   * data: it cannot succeed. Tries are 250 ms to 3 s apart, so the default, 20, is about a minute. One that has brought
   * data before is tried for as long as somebody follows it. 0: never ends.
   */
  readonly maxFailures?: number | undefined
  /** Send nothing when a re-execution gave what it gave before. Default `false`: each re-execution is an update. */
  readonly skipUnchanged?: boolean | undefined
  /**
   * An event with an id re-executes only the queries whose result holds that entity. Events of operation `create`, and
   * of types whose `id` the query does not select everywhere, always do. Default `false`: the id makes no difference.
   */
  readonly matchEntityId?: boolean | undefined
  /** How deep `changed_fields` looks; a change below stands as the path at that depth. 0: leave it out. Default 10. */
  readonly changedFieldsDepth?: number | undefined
  /** Receives failures of the background. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
  /** Jitter of polls, back-off and resynchronisation; in [0, 1). Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

const BATCH_OPTIONS: KnownOptions<BatchOptions> = {
  enabled: flag,
  debounceMs: atLeast(0),
  maxBatchSize: atLeast(1),
  maxWaitMs: atLeast(0),
}

export const STORE_OPTIONS: KnownOptions<LiveQueryStoreOptions> = {
  batch: BATCH_OPTIONS,
  maxSubscriptions: atLeast(0),
  maxFailures: atLeast(0),
  skipUnchanged: flag,
  matchEntityId: flag,
  changedFieldsDepth: atLeast(0),
  onError: true,
  clock: true,
  random: true,
}
