/** Specification: "Retry configuration". */
export interface RetryOptions {
  /** Attempts after the first. 0: none. */
  readonly maxRetries: number
  readonly initialBackoffMs: number
  readonly maxBackoffMs: number
  readonly multiplier: number
  /** HTTP statuses that are worth another attempt, whatever the method. */
  readonly retryStatuses: readonly number[]
}

/** The retry presets: `default`, `aggressive` and `disabled`. */
export const retryPresets: Readonly<Record<'default' | 'aggressive' | 'disabled', RetryOptions>> = {
  default: {
    maxRetries: 3,
    initialBackoffMs: 100,
    maxBackoffMs: 10_000,
    multiplier: 2,
    retryStatuses: [429, 500, 502, 503, 504],
  },
  aggressive: {
    maxRetries: 5,
    initialBackoffMs: 50,
    maxBackoffMs: 30_000,
    multiplier: 2,
    retryStatuses: [408, 429, 500, 502, 503, 504],
  },
  disabled: { maxRetries: 0, initialBackoffMs: 0, maxBackoffMs: 0, multiplier: 1, retryStatuses: [] },
}

/** The longest wait before retry number `retry` (from 1): the schedule that jitter shortens. */
export function backoffCeiling(
  { initialBackoffMs, maxBackoffMs, multiplier }: RetryOptions,
  retry: number,
): number {
  return Math.min(maxBackoffMs, initialBackoffMs * multiplier ** (retry - 1))
}

/** RFC 9110 §10.2.3: seconds or a date; anything else is no answer. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
