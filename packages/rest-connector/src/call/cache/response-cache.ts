import { LRUCache } from 'lru-cache'
import type { RestResponse } from '../../http/attempt.ts'
import { reuseOf, type Reuse } from './cache-control.ts'
import { isInKey } from '../../http/cache-key.ts'
import { type Clock, createExpiry } from '@vinyasa/core'

/** Names of types; `any` change may make the response old. */
export type ResponseTypes = ReadonlySet<string> | 'any'

/** A response of the cache, and what may be done with it now. */
export interface Kept extends Pick<Reuse, 'validators'> {
  readonly response: RestResponse
  readonly use: 'as it is' | 'while asking' | 'after asking'
}

export interface ResponseCache {
  /** It keeps nothing, ever. */
  readonly isOff: boolean
  /** Returns what is kept, also a stale response that is still of use. */
  get(key: string): Kept | undefined
  /** Whether it is kept still, and may stand for the answer of an upstream that fails. */
  isUsableOnError(key: string, kept: Kept): boolean
  /** A mark to hand to `set`: what was requested before an eviction is not stored after it. */
  mark(): number
  set(key: string, types: () => ResponseTypes, response: RestResponse, mark: number): void
  /** Forgets what depends on one of these types; `*` stands for all of them. */
  evict(entityTypes: ReadonlySet<string>): void
  clear(): void
  readonly size: number
}

export interface ResponseCacheOptions {
  /** Most responses; 0: none are kept. */
  readonly size: number
  /** Limit in bytes of the memory of all responses together; one may take a sixteenth of it. */
  readonly maxBytes: number
  readonly ttlMs: number
  readonly clock: Clock
  /** Whether changes are heard of; while they are not, nothing is given out and nothing is kept. */
  readonly isInTouch: () => boolean
  /** Milliseconds for which a response is given out at most, however fresh it is. */
  readonly maxAgeMs: () => number
}

interface Entry {
  readonly response: RestResponse
  readonly storedAt: number
  readonly types: ResponseTypes
  readonly freshUntil: number
  readonly whileRevalidateUntil: number
  readonly ifErrorUntil: number
  readonly validators: Reuse['validators']
}

/** Time after which an entry is of no use. A response with validators can be revalidated at any time. */
function expiresAt({ validators, freshUntil, whileRevalidateUntil, ifErrorUntil }: Entry): number {
  return validators ? Infinity : Math.max(freshUntil, whileRevalidateUntil, ifErrorUntil)
}

/** Creates a cache of GET responses. It removes expired responses, and evicts the least recently used first. */
export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { size, maxBytes, ttlMs, clock, isInTouch, maxAgeMs } = options
  const entries =
    size > 0 && maxBytes >= 16
      ? new LRUCache<string, Entry>({
          max: size,
          maxSize: maxBytes,
          maxEntrySize: Math.floor(maxBytes / 16),
          sizeCalculation: ({ response }, key) => ENTRY_BYTES + key.length + memoryOf(response),
          dispose: (entry, key) => expiry.drop(key, expiresAt(entry)),
        })
      : undefined
  const expiry = createExpiry((key) => void entries?.delete(key), clock)
  let generation = 0

  function clear(): void {
    generation++
    expiry.clear()
    entries?.clear()
  }

  return {
    isOff: entries === undefined,
    get(key) {
      const entry = isInTouch() ? entries?.get(key) : undefined
      if (!entry) return undefined
      const now = clock.now()
      const { response, storedAt, validators, freshUntil, whileRevalidateUntil, ifErrorUntil } = entry
      if (now - storedAt < maxAgeMs()) {
        if (now < freshUntil) return { response, validators, use: 'as it is' }
        if (now < whileRevalidateUntil) return { response, validators, use: 'while asking' }
        if (validators || now < ifErrorUntil) return { response, validators, use: 'after asking' }
      }
      entries?.delete(key)
      return undefined
    },
    isUsableOnError(key, { response }) {
      const entry = isInTouch() ? entries?.peek(key) : undefined
      if (entry?.response !== response) return false
      const now = clock.now()
      return now < entry.ifErrorUntil && now - entry.storedAt < maxAgeMs()
    },
    mark: () => generation,
    set(key, types, response, mark) {
      if (!entries || mark !== generation || !isInTouch()) return
      const now = clock.now()
      const reuse = reuseOf(response, ttlMs, clock.wallNow(), isInKey)
      if (!reuse) return void entries.delete(key)
      const entry: Entry = {
        response: freeze(response),
        storedAt: now,
        types: types(),
        freshUntil: now + reuse.freshMs,
        whileRevalidateUntil: now + reuse.whileRevalidateMs,
        ifErrorUntil: now + reuse.ifErrorMs,
        validators: reuse.validators,
      }
      entries.set(key, entry)
      if (entries.peek(key) === entry) expiry.add(key, expiresAt(entry))
    },
    evict(entityTypes) {
      if (entityTypes.has('*')) return clear()
      generation++
      for (const [key, { types }] of entries ?? [])
        if (types === 'any' || [...entityTypes].some((type) => types.has(type))) entries?.delete(key)
    },
    clear,
    get size() {
      return entries?.size ?? 0
    },
  }
}

const ENTRY_BYTES = 512
const OBJECT_BYTES = 48
const MEMBER_BYTES = 8

/** Estimates the bytes that parsed JSON takes in V8: many times its text where its values are small. */
function memoryOf(value: unknown): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length
  if (typeof value !== 'object' || value === null) return MEMBER_BYTES
  let bytes = OBJECT_BYTES
  for (const member of Object.values(value)) bytes += MEMBER_BYTES + memoryOf(member)
  return bytes
}

/** One value for many readers: nobody may change it for the others. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
  return value
}
