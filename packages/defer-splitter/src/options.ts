import {
  atLeast,
  type Clock,
  flag,
  type KnownOptions,
  refuseWrongOptions,
  systemClock,
  text,
  wholeAtLeast,
} from '@vinyasa/base'

/**
 * How deferred fragments are produced.
 *
 * - `auto`: `streaming` wherever the server's own interpreter executes the operation; `eager` where another plugin
 *   put an executor of its own in place (compiled, remote, planned).
 * - `streaming`: fields outside `@defer` are answered first, deferred fields are executed beside and after them.
 * - `eager`: the whole query is executed once and its result is split.
 */
export type DeferStrategy = 'auto' | 'streaming' | 'eager'

/** The part of a clock that the plugin needs. */
export type Timers = Pick<Clock, 'setTimeout' | 'clearTimeout'>

/** Options of `useDeferSplitter`. Names and defaults follow the specification's "Defer configuration" table. */
export interface DeferSplitterOptions {
  /**
   * Whether `@defer` defers. Default true. When false `@defer` is accepted and everything is executed and answered
   * as one JSON result.
   */
  readonly enabled?: boolean | undefined
  /**
   * The most `@defer` fragments that may be active in one operation. Default 16. One more is refused with HTTP 400,
   * code `DEFER_TOO_MANY_FRAGMENTS`, before execution. A fragment spread counts each time it is reached; one with
   * `if: false`, or skipped by `@skip` / `@include`, does not count. 0 refuses every active `@defer`.
   */
  readonly maxDeferredFragments?: number | undefined
  /**
   * Milliseconds each deferred fragment may take from its start. Default 30 000. A fragment that takes longer is
   * answered `data: null` with code `DEFER_FRAGMENT_TIMEOUT`, its calls are cancelled, the others go on. 0 means no limit.
   */
  readonly fragmentTimeoutMs?: number | undefined
  /**
   * Milliseconds the whole query may take, deferred parts included. Default 60 000. When it elapses every open
   * fragment is answered with code `DEFER_FRAGMENT_TIMEOUT` and the stream is closed; when nothing was sent yet the
   * answer is HTTP 504, code `DEFER_TOTAL_TIMEOUT`. 0 means no limit.
   */
  readonly maxTotalTimeoutMs?: number | undefined
  /** The multipart boundary (RFC 2046: 1 to 70 characters). Default `-`. Throws at start-up when it cannot be one. */
  readonly multipartBoundary?: string | undefined
  /** See {@link DeferStrategy}. Default `auto`. */
  readonly strategy?: DeferStrategy | undefined
  /**
   * The most patches one response may hold. Default 1 000. A fragment on the items of a list makes one patch an
   * item; once the cap is reached the rest is inlined where it belongs. 0 inlines everything.
   */
  readonly maxPatches?: number | undefined
  /**
   * Objects that one answer may have, all its parts together. Default 1 000 000, of which one for each 200 of
   * `maxAnswerBytes`, or of its default, is executed: they are held. Over it what is still to come is answered
   * with code `RESPONSE_TOO_LARGE`, and its calls are cancelled. 0 means no limit. Where sources of this server have
   * limits, theirs hold.
   */
  readonly maxAnswerObjects?: number | undefined
  /** Bytes that one answer may have, all its parts together. Default 67 108 864. The same over it, and with 0. */
  readonly maxAnswerBytes?: number | undefined
  /** The path that always answers `@defer` as multipart. Default: Yoga's `graphqlEndpoint` followed by `/defer`. */
  readonly endpoint?: string | undefined
  /** Timers. Default: the platform's. */
  readonly clock?: Timers | undefined
}

/** A name of {@link deferPresets}. */
export type DeferPreset = 'default' | 'production' | 'development' | 'disabled'

/** The specification's presets. Spread one to change it: `{ ...deferPresets.production, maxDeferredFragments: 4 }`. */
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
} & Pick<DeferSplitterOptions, 'endpoint'>

const NAMES: KnownOptions<DeferSplitterOptions> = {
  enabled: flag,
  maxDeferredFragments: wholeAtLeast(0),
  fragmentTimeoutMs: atLeast(0),
  maxTotalTimeoutMs: atLeast(0),
  multipartBoundary: text,
  strategy: true,
  maxPatches: wholeAtLeast(0),
  maxAnswerObjects: wholeAtLeast(0),
  maxAnswerBytes: wholeAtLeast(0),
  endpoint: text,
  clock: true,
}

/** Options with every default in place. Throws a TypeError that names the option when one cannot be used. */
export function resolveOptions(given: DeferSplitterOptions | DeferPreset = {}): ResolvedOptions {
  if (typeof given === 'string' && !Object.hasOwn(deferPresets, given)) {
    throw new TypeError(
      `useDeferSplitter: there is no preset "${given}"; use one of ${Object.keys(deferPresets).join(', ')}.`,
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
    maxPatches = 1_000,
    maxAnswerObjects = 1_000_000,
    maxAnswerBytes = 67_108_864,
    endpoint,
    clock = systemClock,
  } = options
  const timeouts = { fragmentTimeoutMs, maxTotalTimeoutMs }
  const limits = { maxDeferredFragments, ...timeouts, maxPatches, maxAnswerObjects, maxAnswerBytes }
  if (!['auto', 'streaming', 'eager'].includes(strategy)) {
    throw new TypeError(
      `useDeferSplitter: strategy must be "auto", "streaming" or "eager", got "${String(strategy)}".`,
    )
  }
  // RFC 2046, section 5.1.1: bchars, not ending in a space; quoted in the header, so `"` and `\` cannot occur.
  if (!/^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(multipartBoundary)) {
    throw new TypeError(
      `useDeferSplitter: multipartBoundary must be 1 to 70 of the characters RFC 2046 allows and not end in a space, got ${JSON.stringify(multipartBoundary)}.`,
    )
  }
  return { enabled, ...limits, multipartBoundary, strategy, endpoint, clock }
}
