import { atLeast, type Clock, flag, type KnownOptions, type LiveOptions } from '@vinyasa/core'

/** Selects what re-executes a live query. Specification: "Strategies". */
export type LiveQueryStrategy = NonNullable<LiveOptions['strategy']>

/** Merges rapid events. Specification: "Batch invalidation configuration". */
export interface BatchOptions {
  /** Whether rapid events are collected. Default: true if `throttleMs` is above 0. */
  readonly enabled?: boolean | undefined
  /** Milliseconds without an event before the update. Default 50. */
  readonly debounceMs?: number | undefined
  /** Number of collected events after which the update is no longer delayed. Default 100. */
  readonly maxBatchSize?: number | undefined
  /** Maximum delay after the first event, in milliseconds. Default 500. */
  readonly maxWaitMs?: number | undefined
}

/** Parts of the platform that tests can replace. */
export interface Platform {
  readonly clock: Clock
  /** Returns a number in [0, 1), for the jitter of polls, retries and resynchronization. */
  readonly random: () => number
}

export interface LiveQueryStoreOptions {
  /** Merging of rapid events into one update. */
  readonly batch?: BatchOptions | undefined
  /** Maximum number of live queries on the server. More are refused with `LIVE_QUERY_LIMIT`. Default 10 000. */
  readonly maxSubscriptions?: number | undefined
  /** Skips updates whose result is unchanged. Default `false`: each re-execution sends an update. */
  readonly skipUnchanged?: boolean | undefined
  /**
   * Events with an id re-execute only queries whose result contains that entity. Events with the operation `create`,
   * and of types whose id field the query does not select everywhere, always re-execute. Default `false`: the id is
   * ignored.
   */
  readonly matchEntityId?: boolean | undefined
  /**
   * Depth of `changed_fields`. A change below it is reported as the path at that depth. 0 omits the field. Default
   * 10.
   */
  readonly changedFieldsDepth?: number | undefined
  /** Receives errors of background work, also of sockets. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Replaces parts of the platform in tests. Default: the system clock and `Math.random`. */
  readonly platform?: Partial<Platform> | undefined
}

/** The options with all defaults applied. */
export type StoreSettings = {
  readonly [Name in Exclude<keyof LiveQueryStoreOptions, 'platform'>]-?: NonNullable<
    LiveQueryStoreOptions[Name]
  >
} & Platform

export const STORE_OPTIONS: KnownOptions<LiveQueryStoreOptions> = {
  batch: {
    enabled: flag,
    debounceMs: atLeast(0),
    maxBatchSize: atLeast(1),
    maxWaitMs: atLeast(0),
  },
  maxSubscriptions: atLeast(0),
  skipUnchanged: flag,
  matchEntityId: flag,
  changedFieldsDepth: atLeast(0),
  onError: true,
  platform: true,
}
