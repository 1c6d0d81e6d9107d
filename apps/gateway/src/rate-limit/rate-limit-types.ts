/** A limit. An operation must be within the limits of all rules that apply to it. */
export interface RateLimitRule {
  /**
   * How clients are distinguished: by `address`, by the value of a `claim` of the token, or by a request `header`.
   * Clients without the claim or header are distinguished by address. Default `address`.
   */
  readonly by?:
    | 'address'
    | {
        /** The claim that identifies a client. */
        readonly claim: string
      }
    | {
        /**
         * The request header that identifies a client. Clients can send any value, so another rule by address must
         * count the same requests unless `trusted` is set.
         */
        readonly header: string
        /**
         * Declares that a proxy in front of the gateway sets the header or rejects wrong values. A rule by address is
         * then not required. Default false.
         */
        readonly trusted?: boolean | undefined
      }
    | undefined
  /** Maximum number of operations or fields in a window. */
  readonly max: number
  /** Length of the window in seconds. */
  readonly windowSeconds: number
  /** Names of the operations that count. Default: all operations. */
  readonly operations?: readonly string[] | undefined
  /**
   * Fields that count, as `Type.field`. Each occurrence in an operation counts, under any alias. Default: the rule
   * counts operations.
   */
  readonly fields?: readonly string[] | undefined
  /**
   * `requests` counts all operations, including responses from the cache. `executions` counts executed operations only,
   * and always applies to rules with `operations` or `fields`. Default `requests`.
   */
  readonly counts?: 'requests' | 'executions' | undefined
}

/** Rate limits. Requests over a limit get HTTP 429, `RATE_LIMITED` and `Retry-After`. */
export interface RateLimitConfig {
  /** The limits. Each rule counts separately. */
  readonly rules: readonly RateLimitRule[]
}

/** The section of the config about rate limits. */
export interface RateLimitSections {
  /** Rate limits. Requests over a limit get HTTP 429, `RATE_LIMITED` and `Retry-After`. Default: no limits. */
  readonly rateLimit?: RateLimitConfig | undefined
}
