import { statusesRepeated } from './faults.ts'

/** Specification: "Retry configuration". */
export interface RetryOptions {
  /** Maximum number of attempts after the first. Default 3; 0: none. */
  readonly maxRetries: number
  /** Longest wait before the second attempt in milliseconds. Jitter shortens it. Default 100. */
  readonly initialBackoffMs: number
  /** Longest wait between two attempts in milliseconds. Default 10_000. */
  readonly maxBackoffMs: number
  /** Factor between one wait and the next. Default 2. */
  readonly multiplier: number
  /** HTTP statuses that are retried, for all methods. Default 429, 500, 502, 503, 504. */
  readonly retryStatuses: readonly number[]
}

/** The retry presets: `default`, `aggressive` and `disabled`. */
export const retryPresets: Readonly<Record<'default' | 'aggressive' | 'disabled', RetryOptions>> = {
  default: {
    maxRetries: 3,
    initialBackoffMs: 100,
    maxBackoffMs: 10_000,
    multiplier: 2,
    retryStatuses: statusesRepeated('any'),
  },
  aggressive: {
    maxRetries: 5,
    initialBackoffMs: 50,
    maxBackoffMs: 30_000,
    multiplier: 2,
    retryStatuses: statusesRepeated('any', 'aggressive'),
  },
  disabled: { maxRetries: 0, initialBackoffMs: 0, maxBackoffMs: 0, multiplier: 1, retryStatuses: [] },
}

/** Returns the longest wait before retry number `retry` (from 1). Jitter shortens it. */
export function backoffCeiling(
  { initialBackoffMs, maxBackoffMs, multiplier }: RetryOptions,
  retry: number,
): number {
  return Math.min(maxBackoffMs, initialBackoffMs * multiplier ** (retry - 1))
}

/** Parses seconds or a date (RFC 9110 §10.2.3). Returns undefined for other values. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  // A date has a time of day. `Date.parse` would accept a plain number as a year.
  const date = value.includes(':') ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
