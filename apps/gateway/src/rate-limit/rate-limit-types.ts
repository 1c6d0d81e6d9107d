/** One limit. All rules that concern an operation must hold. */
export interface RateLimitRule {
  /**
   * Whom it counts: `address` of the client, the value of a `claim` of its token, or of a `header`. Who has no such claim
   * or header is counted by address. Default `address`.
   */
  readonly by?:
    | 'address'
    | {
        /** The claim whose value is counted. */
        readonly claim: string
      }
    | {
        /** The request header whose value is counted. Clients choose it: a rule by address that counts the same stands beside it. */
        readonly header: string
        /**
         * Says that what stands in front of the gateway writes the header, or refuses a wrong one: no rule by
         * address is needed. Default false.
         */
        readonly trusted?: boolean | undefined
      }
    | undefined
  /** How often in a window. */
  readonly max: number
  /** Length of the window. */
  readonly windowSeconds: number
  /** Only operations of these names. Default: all. */
  readonly operations?: readonly string[] | undefined
  /** Only these fields, `Type.field`: each time that an operation has one, under whatever alias. Default: operations. */
  readonly fields?: readonly string[] | undefined
  /**
   * `requests`: what is asked, answers from the cache too; `executions`: what is executed. Default `requests`; with
   * `operations` or `fields` always `executions`, as what comes from the cache is not looked at.
   */
  readonly counts?: 'requests' | 'executions' | undefined
}

/** How often clients may ask. Over a limit: HTTP 429, `RATE_LIMITED`, `Retry-After`. */
export interface RateLimitConfig {
  /** The limits, each for itself. */
  readonly rules: readonly RateLimitRule[]
}

/** The section of the config that limits how often clients ask. */
export interface RateLimitSections {
  /** How often clients may ask. Default: as often as they like. */
  readonly rateLimit?: RateLimitConfig | undefined
}
