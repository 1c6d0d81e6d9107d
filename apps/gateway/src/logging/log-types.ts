/** Options of the log: what is written, and how. */
export interface LogConfig {
  /** Default `info`; `silent` writes nothing. */
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined
  /** `pretty` is for people, `json` a line of JSON for each entry. Default: `pretty`; production `json`. */
  readonly format?: 'json' | 'pretty' | undefined
  /** Further names whose values are never logged, beside the usual ones of secrets. */
  readonly redact?: readonly string[] | undefined
}

/** The section of the config about the log. */
export interface LogSections {
  /** Options of the log: what is written, and how. */
  readonly log?: LogConfig | undefined
}
