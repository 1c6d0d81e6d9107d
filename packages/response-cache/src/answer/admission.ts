import { createProfileCache, type DocumentProfile, type ProfileOf } from '../document/document-profile.ts'
import { createRequestKeyFactory, mayBePersonal, type RequestKeyFactory } from '../document/request-key.ts'
import { unknownAsker } from '../errors.ts'
import type { CacheEngine } from '../response-cache.ts'
import type { Lifetimes } from './lifetimes.ts'
import type { OperationState } from './operation-state.ts'
import { UNUSABLE, UserRules } from './user-rules.ts'

/** Says which operations the cache may answer, and under which key. */
export class Admission {
  readonly profileOf: ProfileOf
  readonly #cache: CacheEngine
  readonly #lifetimes: Lifetimes
  readonly #rules: UserRules
  readonly #hasSession: boolean
  readonly #ignoredTypes: readonly string[]
  readonly #keyOf: RequestKeyFactory
  /** Reasons for which operations are kept out; each is told of once. */
  readonly #warned = new Set<string>()

  constructor(cache: CacheEngine, lifetimes: Lifetimes) {
    const { idFields = ['id'], ignoredTypes = [], varyHeaders = ['Authorization'] } = cache.options
    const { ttlMsBySchemaCoordinate, access, prefix, session } = cache.options
    this.#cache = cache
    this.#lifetimes = lifetimes
    this.#hasSession = session !== undefined
    this.#rules = new UserRules(cache.options, (warning) => cache.emit({ type: 'warning', warning }))
    this.#ignoredTypes = ignoredTypes
    this.profileOf = createProfileCache({ idFields, ttlMsBySchemaCoordinate, varyHeaders, access })
    this.#keyOf = createRequestKeyFactory({ prefix, hasSession: this.#hasSession })
  }

  /** Whether the cache may answer the operation, whose key stands in its state then. */
  admit(state: OperationState, profile: DocumentProfile): boolean {
    // An early look has made the key already; nothing but a session could change it.
    if (state.profile === profile && state.key && !this.#hasSession) return true
    state.profile = profile
    const { report, params, request, context } = state
    const { operationName, variables } = params
    const { headers } = request
    const access = profile.access?.keyOf?.(context)
    const said = this.#rules.sessionOf(context)
    const session = said === UNUSABLE ? undefined : said
    const identity = { operationName, variables, headers, session, access }
    const isCacheable = said !== UNUSABLE && this.#isCacheable(profile)
    const key = isCacheable ? this.#keyOf(profile, identity, state.sameBytes) : undefined
    report.varyNames = profile.access ? [...profile.varyNames, ...profile.access.headers] : profile.varyNames
    if (key && (key.isPersonal || !profile.isPrivate)) {
      state.key = key
      report.isPersonal ||= key.isPersonal || profile.asker.isPersonal === true
      return true
    }
    report.isPersonal ||= mayBePersonal(profile, identity)
    this.#warnOnce(profile)
    return false
  }

  /** Whether the option `enabled` lets the operation into the cache. */
  isEnabled(context: Record<string, unknown>): boolean {
    return this.#rules.isEnabled(context)
  }

  #isCacheable(profile: DocumentProfile): boolean {
    if (profile.operation !== 'query' || profile.introspection) return false
    if (!this.#lifetimes.mayBeKept(profile)) return false
    return !this.#ignoredTypes.some((type) => profile.mentioned.has(type))
  }

  #warnOnce({ asker: { unknown } }: DocumentProfile): void {
    if (unknown === undefined || this.#hasSession || this.#warned.has(unknown)) return
    this.#warned.add(unknown)
    this.#cache.emit({ type: 'warning', warning: unknownAsker(unknown) })
  }
}
