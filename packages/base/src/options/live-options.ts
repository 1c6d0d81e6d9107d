import type { KnownOptions } from './check-options.ts'
import { atLeast, flag, texts } from './allowed.ts'

/** How often data changes. Specification: "Data volatility levels map to hints". */
export type Volatility = 'VeryHigh' | 'High' | 'Medium' | 'Low' | 'VeryLow'

/** The levels as the specification writes them, and as protos do. */
export type VolatilityName = Volatility | 'VERY_HIGH' | 'HIGH' | 'MEDIUM' | 'LOW' | 'VERY_LOW'

const LEVELS: Readonly<Record<VolatilityName, Volatility>> = {
  VeryHigh: 'VeryHigh',
  High: 'High',
  Medium: 'Medium',
  Low: 'Low',
  VeryLow: 'VeryLow',
  VERY_HIGH: 'VeryHigh',
  HIGH: 'High',
  MEDIUM: 'Medium',
  LOW: 'Low',
  VERY_LOW: 'VeryLow',
}

/** Both spellings of every level. */
export const VOLATILITY_NAMES: readonly VolatilityName[] = Object.keys(LEVELS) as VolatilityName[]

/** Undefined for what is no level in either spelling. */
export function toVolatility(name: unknown): Volatility | undefined {
  return typeof name === 'string' && Object.hasOwn(LEVELS, name) ? LEVELS[name as VolatilityName] : undefined
}

/** Polling more often is refused. */
export const LEAST_POLL_INTERVAL_MS = 50

/** The names of {@link LiveOptions}, and the ranges of its numbers. */
export const LIVE_OPTIONS: KnownOptions<LiveOptions> = {
  enabled: flag,
  strategy: true,
  triggers: texts,
  dependsOn: texts,
  throttleMs: atLeast(0),
  pollIntervalMs: atLeast(LEAST_POLL_INTERVAL_MS),
  ttlSeconds: atLeast(0),
  maxConnections: atLeast(0),
  volatility: true,
  filter: true,
}

/**
 * The live options of one root field. Specification: "Live query option".
 * A source writes them to the field's `extensions.liveQuery`, where live-query reads them.
 */
export interface LiveOptions {
  /** Whether `@live` may be used with the field. Default false; true in `fields` of live-query. */
  readonly enabled?: boolean | undefined
  /**
   * The trigger that runs it again: announced changes, a clock, or a clock whose equal results are not sent.
   * Default `INVALIDATION`.
   */
  readonly strategy?: 'INVALIDATION' | 'POLLING' | 'HASH_DIFF' | undefined
  /**
   * Patterns `<EntityType>.<operation>`; `*` stands for either part. Default: `create`, `update` and `delete` of the
   * field's type, of its list items and of what else its value is made of. What is selected below the field keeps
   * triggers of its own.
   */
  readonly triggers?: readonly string[] | undefined
  /** Further types all of whose changes run it again. Default: none. */
  readonly dependsOn?: readonly string[] | undefined
  /** Least milliseconds between two updates. Default 100; 0: each event is an update. */
  readonly throttleMs?: number | undefined
  /** Milliseconds between two runs, for `POLLING` and `HASH_DIFF`. Default 1000, at least 50. */
  readonly pollIntervalMs?: number | undefined
  /** Seconds after which the subscription completes. Default 0: never. */
  readonly ttlSeconds?: number | undefined
  /** Subscriptions that may use the field at one time. Default 0: no limit of its own. */
  readonly maxConnections?: number | undefined
  /** How often the data changes: sets `cache_control` of updates. Default: none is sent. */
  readonly volatility?: VolatilityName | undefined
  /**
   * `backend`: the arguments filter where the field is resolved. `gateway`: list items that own a field of an argument's
   * name must equal the argument. Default `backend`. Specification: "Live query filtering".
   */
  readonly filter?: 'backend' | 'gateway' | undefined
}
