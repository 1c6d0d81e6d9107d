import { createHash } from 'node:crypto'
import type { Volatility } from '@vinyasa/core'

/** Specification: "Cache control hint". The names are those of the wire format. */
export interface CacheControl {
  /** Maximum age in seconds. */
  readonly max_age: number
  readonly public: boolean
  readonly must_revalidate: boolean
  readonly etag?: string
}

const MAX_AGE: Readonly<Record<Volatility, number>> = {
  VeryHigh: 0,
  High: 5,
  Medium: 30,
  Low: 300,
  VeryLow: 3600,
}

/** Returns the hint for data of a volatility. `shared` means that the result depends on no header and is public. */
export function cacheControlFor(volatility: Volatility, etag?: string, shared = false): CacheControl {
  return {
    max_age: MAX_AGE[volatility],
    public: shared,
    must_revalidate: volatility === 'Low',
    ...(etag === undefined ? {} : { etag }),
  }
}

/** Returns a strong entity tag (RFC 9110, section 8.8.3) of serialized data. */
export function etagOf(json: string): string {
  return `"${createHash('sha256').update(json).digest('base64url')}"`
}
