import {
  atLeast,
  type Clock,
  flag,
  type KnownOptions,
  refuseWrongOptions,
  systemClock,
  text,
  wholeAtLeast,
} from '@vinyasa/core'
import { type AnswerLimits } from '@vinyasa/core/documents'

/**
 * Selects how deferred fragments are produced.
 * - `auto`: `streaming` if the server's own interpreter executes the operation; `eager` if another plugin has
 *   replaced the executor (compiled, remote, planned).
 * - `streaming`: sends the fields outside `@defer` first, and executes deferred fields at the same time and
 *   afterwards.
 * - `eager`: executes the complete query once and splits its result.
 */
export type DeferStrategy = 'auto' | 'streaming' | 'eager'

/** The timer functions of a clock. */
export type Timers = Pick<Clock, 'setTimeout' | 'clearTimeout'>

/** Options of `useDeferSplitter`. Names and defaults follow the specification's "Defer configuration" table. */
export interface DeferSplitterOptions {
  /**
   * Whether `@defer` is active. Default true. If false, `@defer` is accepted, and the response is one complete JSON
   * result.
   */
  readonly enabled?: boolean | undefined
  /**
   * Maximum number of active `@defer` fragments in an operation. Default 16. More are refused before execution with
   * HTTP 400 and `DEFER_TOO_MANY_FRAGMENTS`. A fragment counts each time it is spread. Fragments with `if: false`, or
   * skipped by `@skip` or `@include`, do not count. 0 refuses every active `@defer`.
   */
  readonly maxDeferredFragments?: number | undefined
  /**
   * Timeout of each deferred fragment in milliseconds, from its start. Default 30 000. On timeout, the fragment gets
   * `data: null` with `DEFER_FRAGMENT_TIMEOUT`, and its calls are cancelled. Other fragments continue. 0 means no
   * limit.
   */
  readonly fragmentTimeoutMs?: number | undefined
  /**
   * Timeout of the complete response in milliseconds, including deferred parts. Default 60 000. On timeout, open
   * fragments get `DEFER_FRAGMENT_TIMEOUT`, and the stream is closed. If the first part was not sent yet, the
   * response is HTTP 504 with `DEFER_TOTAL_TIMEOUT`. 0 means no limit.
   */
  readonly maxTotalTimeoutMs?: number | undefined
  /** The multipart boundary (RFC 2046: 1 to 70 characters). Default `-`. Throws at startup if it is invalid. */
  readonly multipartBoundary?: string | undefined
  /** See {@link DeferStrategy}. Default `auto`. */
  readonly strategy?: DeferStrategy | undefined
  /** The path that always sends `@defer` as multipart. Default: Yoga's `graphqlEndpoint` followed by `/defer`. */
  readonly endpoint?: string | undefined
}

/** Timers and limits that only tests replace. */
export interface DeferInternals extends AnswerLimits {
  readonly clock: Timers
  /**
   * Maximum number of patches in a response. A fragment on the items of a list creates one patch for each item. Further
   * fragments are inlined.
   */
  readonly maxPatches: number
}

/** Names of {@link deferPresets}. */
export type DeferPreset = 'default' | 'production' | 'development' | 'disabled'

/**
 * The specification's presets. Spread a preset to change it: `{ ...deferPresets.production, maxDeferredFragments: 4
 * }`.
 */
export const deferPresets: Readonly<Record<DeferPreset, DeferSplitterOptions>> = Object.freeze({
  default: preset(16, 30_000, 60_000),
  production: preset(8, 15_000, 30_000),
  development: preset(64, 60_000, 120_000),
  disabled: Object.freeze({ enabled: false }),
})

function preset(
  maxDeferredFragments: number,
  fragmentTimeoutMs: number,
  maxTotalTimeoutMs: number,
): DeferSplitterOptions {
  const limits = { maxDeferredFragments, fragmentTimeoutMs, maxTotalTimeoutMs }
  return Object.freeze({ enabled: true, ...limits, multipartBoundary: '-' })
}

export type ResolvedOptions = {
  readonly [Name in Exclude<keyof DeferSplitterOptions, 'endpoint'>]-?: NonNullable<
    DeferSplitterOptions[Name]
  >
} & Pick<DeferSplitterOptions, 'endpoint'> &
  DeferInternals

const NAMES: KnownOptions<DeferSplitterOptions> = {
  enabled: flag,
  maxDeferredFragments: wholeAtLeast(0),
  fragmentTimeoutMs: atLeast(0),
  maxTotalTimeoutMs: atLeast(0),
  multipartBoundary: text,
  strategy: true,
  endpoint: text,
}

/** Returns the options with all defaults applied. Throws a TypeError with the option's name if an option is invalid. */
export function resolveOptions(
  given: DeferSplitterOptions | DeferPreset = {},
  internals: Partial<DeferInternals> = {},
): ResolvedOptions {
  if (typeof given === 'string' && !Object.hasOwn(deferPresets, given)) {
    throw new TypeError(
      `useDeferSplitter: unknown preset "${given}"; use one of ${Object.keys(deferPresets).join(', ')}.`,
    )
  }
  const options = typeof given === 'string' ? deferPresets[given] : given
  refuseWrongOptions('useDeferSplitter', options, NAMES)
  const {
    enabled = true,
    maxDeferredFragments = 16,
    fragmentTimeoutMs = 30_000,
    maxTotalTimeoutMs = 60_000,
    multipartBoundary = '-',
    strategy = 'auto',
    endpoint,
  } = options
  const limits = { maxDeferredFragments, fragmentTimeoutMs, maxTotalTimeoutMs }
  if (!['auto', 'streaming', 'eager'].includes(strategy)) {
    throw new TypeError(
      `useDeferSplitter: strategy must be "auto", "streaming" or "eager", got "${String(strategy)}".`,
    )
  }
  // RFC 2046, section 5.1.1: bchars, not ending in a space; quoted in the header, so `"` and `\` cannot occur.
  if (!/^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(multipartBoundary)) {
    throw new TypeError(
      `useDeferSplitter: multipartBoundary must be 1 to 70 characters long, use only characters that RFC 2046 allows, and must not end with a space, got ${JSON.stringify(multipartBoundary)}.`,
    )
  }
  const defaults = { clock: systemClock, maxPatches: 1_000 }
  return { enabled, ...limits, multipartBoundary, strategy, endpoint, ...defaults, ...internals }
}
