import { createHash } from 'node:crypto'
import type { Volatility } from '@vinyasa/core'

/** Specification: "Cache control hint"; the names are the wire's. */
export interface CacheControl {
  /** Seconds. */
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

/** The hint for data of that volatility. `shared`: the result depends on no header, so anyone may keep it. */
export function cacheControlFor(volatility: Volatility, etag?: string, shared = false): CacheControl {
  return {
    max_age: MAX_AGE[volatility],
    public: shared,
    must_revalidate: volatility === 'Low',
    ...(etag === undefined ? {} : { etag }),
  }
}

/** A strong entity tag (RFC 9110, 8.8.3) of serialised data. */
export function etagOf(json: string): string {
  return `"${createHash('sha256').update(json).digest('base64url')}"`
}
