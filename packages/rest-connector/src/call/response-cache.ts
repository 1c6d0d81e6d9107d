import { LRUCache } from 'lru-cache'
import type { RestResponse } from '../http/attempt.ts'
import type { Clock } from '../clock.ts'
import { single } from '../http/decode.ts'

export interface ResponseCache {
  get(key: string): RestResponse | undefined
  /** A mark to hand to `set`: what was requested before an eviction is not stored after it. */
  mark(): number
  set(key: string, types: ReadonlySet<string>, response: RestResponse, mark: number): void
  /** Forgets what may hold one of these types; responses of no declared type may hold any. */
  evict(entityTypes: ReadonlySet<string>): void
  clear(): void
  readonly size: number
}

interface Entry {
  readonly response: RestResponse
  readonly types: ReadonlySet<string>
  readonly storedAt: number
}

export interface ResponseCacheOptions {
  /** Most responses; 0: none are kept. */
  readonly size: number
  /** What they may take in memory together; one alone a sixteenth of it. */
  readonly maxBytes: number
  readonly ttlMs: number | undefined
  readonly clock: Clock
}

/** Keeps GET responses, least recently used out first. */
export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { size, maxBytes, ttlMs, clock } = options
  const entries =
    size > 0 && maxBytes >= 16
      ? new LRUCache<string, Entry>({
          max: size,
          maxSize: maxBytes,
          maxEntrySize: Math.floor(maxBytes / 16),
          sizeCalculation: ({ response }, key) => ENTRY_BYTES + key.length + memoryOf(response),
        })
      : undefined
  let generation = 0
  return {
    get(key) {
      const entry = entries?.get(key)
      if (!entry) return undefined
      if (ttlMs === undefined || clock.now() - entry.storedAt < ttlMs) return entry.response
      entries?.delete(key)
      return undefined
    },
    mark: () => generation,
    set(key, types, response, mark) {
      if (!entries || mark !== generation || isNoStore(response)) return
      entries.set(key, { response: freeze(response), types, storedAt: clock.now() })
    },
    evict(entityTypes) {
      generation++
      for (const [key, { types }] of entries ?? [])
        if (types.size === 0 || [...entityTypes].some((type) => types.has(type))) entries?.delete(key)
    },
    clear() {
      generation++
      entries?.clear()
    },
    get size() {
      return entries?.size ?? 0
    },
  }
}

const ENTRY_BYTES = 512
const OBJECT_BYTES = 48
const MEMBER_BYTES = 8

/** What parsed JSON takes, as V8 keeps it: many times its text where that is made of small values. */
function memoryOf(value: unknown): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length
  if (typeof value !== 'object' || value === null) return MEMBER_BYTES
  let bytes = OBJECT_BYTES
  for (const member of Object.values(value)) bytes += MEMBER_BYTES + memoryOf(member)
  return bytes
}

function isNoStore({ headers }: RestResponse): boolean {
  return /(?:^|,)\s*no-store\s*(?:,|$)/i.test(single(headers['cache-control']) ?? '')
}

/** One value for many readers: nobody may change it for the others. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
  return value
}
