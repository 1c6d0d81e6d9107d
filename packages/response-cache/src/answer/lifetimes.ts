import type { DocumentProfile } from '../document/document-profile.ts'
import type { ResponseCacheOptions } from '../options.ts'
import type { Lifetime } from '../store/freshness.ts'

/** A year: Redis and JSON know no endless time, and RFC 9111 lets caches expect no more of `max-age`. */
const LONGEST_MS = 365 * 24 * 60 * 60 * 1000

/** How long results are kept, by the operation that they are of. */
export class Lifetimes {
  readonly #defaultTtlMs: number
  readonly #staleMs: number

  constructor({ defaultTtlMs = 60_000, staleWhileRevalidateMs = 0 }: ResponseCacheOptions) {
    this.#defaultTtlMs = defaultTtlMs
    this.#staleMs = Math.min(staleWhileRevalidateMs, LONGEST_MS)
  }

  mayBeKept({ ttlMs = this.#defaultTtlMs }: DocumentProfile): boolean {
    return ttlMs > 0
  }

  /** `leftMs`: for how long the upstreams let the result be kept. Where they say, nothing is served after that. */
  of({ ttlMs = this.#defaultTtlMs }: DocumentProfile, leftMs: number): Lifetime {
    return { ttlMs: Math.min(ttlMs, LONGEST_MS, leftMs), staleMs: leftMs < Infinity ? 0 : this.#staleMs }
  }
}
