import { isPromise } from '@vinyasa/base'
import { misreadContext, unusableValue } from '../errors.ts'
import type { ResponseCacheOptions } from '../options.ts'

type Context = Record<string, unknown>
type Option = 'session' | 'enabled'

/** Stands for what no key can be made of: whose the answer is, nobody knows. */
export const UNUSABLE: unique symbol = Symbol('vinyasa.response-cache.unusable')

/** Members of a `Request` that functions of other caches read of their first parameter. */
const OF_REQUEST: ReadonlySet<PropertyKey> = new Set(['headers', 'url', 'method', 'cookies', 'cookieStore'])

/** What the options `session` and `enabled` say of an operation, whatever they give: in doubt it is not cached. */
export class UserRules {
  readonly #options: Pick<ResponseCacheOptions, Option>
  readonly #warn: (warning: Error) => void
  readonly #warned = new Set<string>()
  /** Whether an option reads members of a request in vain, found where it was called first. */
  readonly #misreads = new Map<Option, boolean>()

  constructor({ session, enabled }: ResponseCacheOptions, warn: (warning: Error) => void) {
    this.#options = { session, enabled }
    this.#warn = warn
  }

  isEnabled(context: Context): boolean {
    const { enabled } = this.#options
    if (!enabled) return true
    if (this.#isMisread('enabled', enabled, context)) return false
    const given: unknown = enabled(context)
    return typeof given === 'object' && given !== null ? this.#refuse('enabled', given) : given !== false
  }

  sessionOf(context: Context): string | null | undefined | typeof UNUSABLE {
    const { session } = this.#options
    if (!session) return undefined
    if (this.#isMisread('session', session, context)) return UNUSABLE
    const given: unknown = session(context)
    if (given === null || given === undefined || typeof given === 'string') return given
    if (/^(number|bigint|boolean)$/.test(typeof given)) return String(given)
    this.#refuse('session', given)
    return UNUSABLE
  }

  #refuse(option: Option, given: unknown): false {
    if (isPromise(given)) given.then(undefined, () => {})
    const warning = unusableValue(option, given)
    if (!this.#warned.has(warning.message)) this.#warn(warning)
    this.#warned.add(warning.message)
    return false
  }

  #isMisread(option: Option, rule: (context: Context) => unknown, context: Context): boolean {
    const known = this.#misreads.get(option)
    if (known !== undefined) return known
    const name = readInVain(rule, context)
    if (name !== undefined) this.#warn(misreadContext(option, name))
    this.#misreads.set(option, name !== undefined)
    return name !== undefined
  }
}

/** Calls the function once to see what it reads of a request that the context does not have. */
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
    // The call that counts throws it again.
  }
  return name
}
