import type { KnownOptions } from './check-options.ts'
import { atLeast, flag, texts } from './allowed.ts'

/** How often data changes. Specification: "Data volatility levels map to hints". */
export type Volatility = 'VeryHigh' | 'High' | 'Medium' | 'Low' | 'VeryLow'

/** The levels as written in the specification and in protos. */
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

/** Returns the level, or undefined if the name is not a level in either spelling. */
export function toVolatility(name: unknown): Volatility | undefined {
  return typeof name === 'string' && Object.hasOwn(LEVELS, name) ? LEVELS[name as VolatilityName] : undefined
}

/** The minimum poll interval; smaller values are refused. */
export const LEAST_POLL_INTERVAL_MS = 50

/** Names and allowed values of {@link LiveOptions}. */
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
 * The live query options of one root field. Specification: "Live query option".
 * A source writes them to the field's `extensions.liveQuery`, where live-query reads them.
 */
export interface LiveOptions {
  /** Whether clients can use `@live` with the field. The default is false, and true in `fields` of live-query. */
  readonly enabled?: boolean | undefined
  /**
   * How the query is re-executed: by invalidation events (`INVALIDATION`), at an interval (`POLLING`), or at
   * an interval with only changed results sent (`HASH_DIFF`). Default `INVALIDATION`.
   */
  readonly strategy?: 'INVALIDATION' | 'POLLING' | 'HASH_DIFF' | undefined
  /**
   * Patterns `<EntityType>.<operation>`; `*` matches any type or operation. Default: `create`, `update` and `delete`
   * of the field's type, of its list items, and of the other types that its value consists of. Fields selected below
   * it always keep their own triggers.
   */
  readonly triggers?: readonly string[] | undefined
  /** Additional types; every change to them re-executes the query. Default: none. */
  readonly dependsOn?: readonly string[] | undefined
  /** Minimum milliseconds between two updates. The default is 100. 0 means that each event is an update. */
  readonly throttleMs?: number | undefined
  /**
   * Milliseconds between two executions, for `POLLING` and `HASH_DIFF`. The default is 1000, and the minimum
   * is 50.
   */
  readonly pollIntervalMs?: number | undefined
  /** Lifetime in seconds, after which the subscription completes. The default is 0, which means no limit. */
  readonly ttlSeconds?: number | undefined
  /** Maximum concurrent live queries of the field. The default is 0, which means no limit. */
  readonly maxConnections?: number | undefined
  /** How often the data changes. It sets `cache_control` of updates, which is not sent by default. */
  readonly volatility?: VolatilityName | undefined
  /**
   * `backend`: the resolver or backend applies the arguments. `gateway`: list items stay if their fields equal the
   * arguments of the same name. Default `backend`. Specification: "Live query filtering".
   */
  readonly filter?: 'backend' | 'gateway' | undefined
}
