/** Settings of the log. */
export interface LogConfig {
  /** Lowest level that is logged. `silent` turns the log off. Default `info`. */
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined
  /** `pretty` is for people. `json` writes one line of JSON for each entry. Default `pretty`; production `json`. */
  readonly format?: 'json' | 'pretty' | undefined
  /** Names whose values are never logged, in addition to the usual names of secrets. */
  readonly redact?: readonly string[] | undefined
}

/** The section of the config about the log. */
export interface LogSections {
  /** Settings of the log. */
  readonly log?: LogConfig | undefined
}
