import type { DocumentProfile } from '../document/document-profile.ts'
import type { ResponseCacheOptions } from '../options.ts'
import { boundedLifetime, type Lifetime } from '../store/freshness.ts'

/** How long results are kept, by the operation that they are of. */
export class Lifetimes {
  readonly #defaultTtlMs: number
  readonly #staleMs: number

  constructor({ defaultTtlMs = 60_000, staleWhileRevalidateMs = 0 }: ResponseCacheOptions) {
    this.#defaultTtlMs = defaultTtlMs
    this.#staleMs = staleWhileRevalidateMs
  }

  mayBeKept(profile: DocumentProfile): boolean {
    return this.#ttlMsOf(profile) > 0
  }

  of(profile: DocumentProfile): Lifetime {
    return boundedLifetime({ ttlMs: this.#ttlMsOf(profile), staleMs: this.#staleMs })
  }

  #ttlMsOf({ ttlMs }: DocumentProfile): number {
    return ttlMs ?? this.#defaultTtlMs
  }
}
