import { createProfileCache, type DocumentProfile, type ProfileOf } from '../document/document-profile.ts'
import {
  createRequestKeyFactory,
  mayBePersonal,
  type RequestKey,
  type RequestKeyFactory,
  whyNoKey,
} from '../document/request-key.ts'
import { readBeyondKey, unknownCaller, misreadContext, unusableValue } from '../errors.ts'
import { readsOf, silently } from '../http/request-reads.ts'
import type { CacheEngine } from '../response-cache.ts'
import type { Lifetime } from '../store/entry.ts'
import type { Ticket } from '../store/entries.ts'
import type { Flight } from './single-flight.ts'
import { isPromise } from '@vinyasa/core'
import type { OperationParams } from '@vinyasa/core/pipeline'
import type { OperationReport } from '../http/cache-headers.ts'
import type { ResponseCacheOptions } from '../options.ts'

/** The state of one operation in the cache. */
export interface OperationState {
  readonly request: Request
  readonly params: OperationParams
  readonly context: Record<string, unknown>
  readonly report: OperationReport
  /** Re-executes the operation in the background with a separate context. */
  readonly refresh: (() => Promise<void>) | undefined
  /** Whether no plugin reads the result. */
  readonly isUnobserved?: boolean | undefined
  /** An object that all requests with equal bytes share. */
  readonly sameBytes?: object | undefined
  /** Whether this operation is a background refresh. Its result is stored, and the cache does not answer it. */
  readonly isRefresh: boolean
  profile?: DocumentProfile
  key?: RequestKey
  /** Set if the result is to be stored. */
  ticket?: Ticket
  flight?: Flight
}

type Context = Record<string, unknown>
type Option = 'session' | 'enabled'

/** Key part of an operation whose `session` or `enabled` function returned an unusable value. */
const UNUSABLE: unique symbol = Symbol('vinyasa.response-cache.unusable')

/** Properties of a `Request` that functions for other caches read from their first parameter. */
const OF_REQUEST: ReadonlySet<PropertyKey> = new Set(['headers', 'url', 'method', 'cookies', 'cookieStore'])

/** Evaluates the options `session` and `enabled`. An operation with an unusable return value is not cached. */
function createUserRules({ session, enabled }: ResponseCacheOptions, warn: (warning: Error) => void) {
  const warned = new Set<string>()
  /** Whether an option reads properties that the context does not have. It is determined on the first call. */
  const misreads = new Map<Option, boolean>()

  function refuse(option: Option, given: unknown): false {
    if (isPromise(given)) given.then(undefined, () => {})
    const warning = unusableValue(option, given)
    if (!warned.has(warning.message)) warn(warning)
    warned.add(warning.message)
    return false
  }

  function isMisread(option: Option, rule: (context: Context) => unknown, context: Context): boolean {
    const known = misreads.get(option)
    if (known !== undefined) return known
    const name = readInVain(rule, context)
    if (name !== undefined) warn(misreadContext(option, name))
    misreads.set(option, name !== undefined)
    return name !== undefined
  }

  return {
    isEnabled(context: Context): boolean {
      if (!enabled) return true
      if (isMisread('enabled', enabled, context)) return false
      const given: unknown = enabled(context)
      return typeof given === 'object' && given !== null ? refuse('enabled', given) : given !== false
    },
    sessionOf(context: Context): string | null | undefined | typeof UNUSABLE {
      if (!session) return undefined
      if (isMisread('session', session, context)) return UNUSABLE
      const given: unknown = session(context)
      if (given === null || given === undefined || typeof given === 'string') return given
      if (/^(number|bigint|boolean)$/.test(typeof given)) return String(given)
      refuse('session', given)
      return UNUSABLE
    },
  }
}

/** Calls the function once to find the properties of a request that it reads and that the context does not have. */
function readInVain(rule: (context: Context) => unknown, context: Context): string | undefined {
  let name: string | undefined
  const watched = new Proxy(context, {
    get(target, key) {
      if (OF_REQUEST.has(key) && !(key in target)) name ??= String(key)
      return Reflect.get(target, key)
    },
  })
  try {
    const given = rule(watched)
    if (isPromise(given)) given.then(undefined, () => {})
  } catch {
    // The actual call throws the same error again.
  }
  return name
}

/** Code can read headers by names that clients choose. */
const MAX_WARNINGS = 100
/**
 * One year. Redis and JSON cannot express an infinite time, and caches need not support a larger `max-age` (RFC 9111).
 */
const LONGEST_MS = 365 * 24 * 60 * 60 * 1000

/** Decides which operations the cache can answer, and with which key. */
export class Admission {
  readonly profileOf: ProfileOf
  readonly #cache: CacheEngine
  readonly #defaultTtlMs: number
  readonly #staleMs: number
  readonly #rules: ReturnType<typeof createUserRules>
  readonly #hasSession: boolean
  readonly #ignoredReads: readonly string[]
  readonly #keyOf: RequestKeyFactory
  /** Reasons for which operations were not cached. Each reason is reported once. */
  readonly #warned = new Set<string>()

  constructor(cache: CacheEngine) {
    const { idFields, varyHeaders = ['Authorization'] } = cache.options
    const { ttlMsBySchemaCoordinate, access, prefix, session, ignoredReads = [] } = cache.options
    const { defaultTtlMs = 60_000, staleWhileRevalidateMs = 0 } = cache.options
    this.#cache = cache
    this.#defaultTtlMs = defaultTtlMs
    this.#staleMs = Math.min(staleWhileRevalidateMs, LONGEST_MS)
    this.#hasSession = session !== undefined
    this.#rules = createUserRules(cache.options, (warning) => cache.emit({ type: 'warning', warning }))
    this.#ignoredReads = ignoredReads.map((name) => (name.includes('.') ? name : name.toLowerCase()))
    this.profileOf = createProfileCache({ idFields, ttlMsBySchemaCoordinate, varyHeaders, access })
    this.#keyOf = createRequestKeyFactory({ prefix, hasSession: this.#hasSession })
  }

  /** Returns whether the cache can answer the operation, and sets the key in its state. */
  admit(state: OperationState, profile: DocumentProfile): boolean {
    // The early lookup has computed the key, and only a session could change it.
    if (state.profile === profile && state.key && !this.#hasSession) return true
    // The return values of these functions represent the properties that they read.
    return silently(state.request, () => this.#decide(state, profile))
  }

  #decide(state: OperationState, profile: DocumentProfile): boolean {
    state.profile = profile
    const { report, params, request, context } = state
    const { operationName, variables } = params
    const { headers } = request
    const access = profile.access?.keyOf?.(context)
    const said = this.#rules.sessionOf(context)
    const session = said === UNUSABLE ? undefined : said
    const identity = { operationName, variables, headers, session, access }
    const obstacle =
      said === UNUSABLE
        ? 'option session returned an invalid value, or reads request properties such as headers from the context instead of context.request'
        : this.#obstacleOf(profile)
    const isKept = obstacle === undefined && !this.isReadBeyondKey(state)
    const key = isKept ? this.#keyOf(profile, identity, state.sameBytes) : undefined
    report.varyNames = profile.access ? [...profile.varyNames, ...profile.access.headers] : profile.varyNames
    if (key && (key.isPersonal || !profile.isPrivate)) {
      state.key = key
      report.isPersonal ||= key.isPersonal || profile.variesBy.isPersonal === true
      return true
    }
    report.isPersonal ||= mayBePersonal(profile, identity)
    report.reason ??=
      obstacle ??
      (key
        ? 'the operation has a field with scope PRIVATE, and the request has neither a session nor a header of varyHeaders'
        : whyNoKey(profile, identity, this.#hasSession))
    const { unknown } = profile.variesBy
    if (unknown !== undefined && !this.#hasSession) this.#warnOnce(unknown, () => unknownCaller(unknown))
    return false
  }

  /** Returns whether code has read a part of the request that is not in the key. The response then is not shared. */
  isReadBeyondKey({ request, profile, report }: OperationState): boolean {
    const names = this.#hasSession ? undefined : readsOf(request)?.names
    if (!names?.size) return false
    const { varyNames = [], access } = profile ?? {}
    // Without a session, the cache does not answer requests with cookies.
    const known = new Set(['cookie', ...varyNames, ...(access?.headers ?? []), ...this.#ignoredReads])
    const read = [...names].find((name) => !known.has(name))
    if (read === undefined || known.has('*')) return false
    report.isPersonal = true
    report.reason = `code reads ${read}`
    const { varyHeaders = ['Authorization'] } = this.#cache.options
    this.#warnOnce(read, () => readBeyondKey(read, varyHeaders))
    return true
  }

  /** Returns whether the option `enabled` allows the cache for the operation. */
  isEnabled({ request, context }: OperationState): boolean {
    return silently(request, () => this.#rules.isEnabled(context))
  }

  /**
   * Returns how long a result is stored. `leftMs` is the rest of the lifetime that upstreams allow. If they limit it,
   * the entry is not served after that.
   */
  lifetimeOf({ ttlMs = this.#defaultTtlMs }: DocumentProfile, leftMs: number): Lifetime {
    return { ttlMs: Math.min(ttlMs, LONGEST_MS, leftMs), staleMs: leftMs < Infinity ? 0 : this.#staleMs }
  }

  #obstacleOf(profile: DocumentProfile): string | undefined {
    if (profile.operation !== 'query') return `the operation is a ${profile.operation}`
    if (profile.introspection) return 'the operation is an introspection query'
    const { ttlMs = this.#defaultTtlMs } = profile
    return ttlMs > 0 ? undefined : 'the TTL of the response is 0'
  }

  #warnOnce(reason: string, make: () => Error): void {
    if (this.#warned.has(reason) || this.#warned.size >= MAX_WARNINGS) return
    this.#warned.add(reason)
    this.#cache.emit({ type: 'warning', warning: make() })
  }
}
