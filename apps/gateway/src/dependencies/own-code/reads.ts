import { isTracingHeader } from '@vinyasa/invalidation'
import { undeclaredRead } from './errors.ts'

/** Facts about a field, and about who may share its answer, that are known before it is resolved. */
export interface ReadPolicy {
  /** `Type.field` */
  readonly coordinate: string
  /** Request headers by which answers are told apart, in lower case. */
  readonly declared: ReadonlySet<string>
  /** Request headers in which a token may stand. */
  readonly tokenHeaders: readonly string[]
  /** `session` or `contextKey` says who asks: a cookie, and what is no header, tell nothing more. */
  readonly saysWhoAsks: boolean
  /** Whether a read that nobody declared is an error; otherwise the answer is not shared. */
  readonly isStrict: boolean
}

/** Takes note of what one field's code reads of a request. */
export class Reads {
  readonly #policy: ReadPolicy
  readonly #context: { unshareable?: boolean }

  constructor(policy: ReadPolicy, context: object) {
    this.#policy = policy
    this.#context = context
  }

  header(name: string): void {
    const { declared, saysWhoAsks } = this.#policy
    if (declared.has(name) || isTracingHeader(name) || (name === 'cookie' && saysWhoAsks)) return
    this.#undeclared(`the request header "${name}"`, name)
  }

  headers(names: readonly string[]): void {
    for (const name of names) this.header(name)
  }

  token(): void {
    this.headers(this.#policy.tokenHeaders)
  }

  allHeaders(): void {
    this.#undeclared('all request headers at once, as by iteration')
  }

  /** Anything else that two requests for one thing may differ by. */
  other(what: string): void {
    if (!this.#policy.saysWhoAsks) this.#undeclared(what)
  }

  #undeclared(what: string, header?: string): void {
    this.#context.unshareable = true
    if (!this.#policy.isStrict) return
    const { coordinate, declared } = this.#policy
    throw undeclaredRead(coordinate, what, header === undefined ? undefined : [...declared, header])
  }
}
