/** One line of what is wrong. */
export interface ConfigMistake {
  readonly text: string
  /** The path of the setting that it is about; undefined: none alone. */
  readonly at?: readonly PropertyKey[] | undefined
}

/**
 * Something in the config or the environment stops the gateway from starting.
 * Each line of the message says: where, what was found, what was expected, how to mend it.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'CONFIG_ERROR'
  /** What of the config was asked for until then, for `--watch`. */
  readonly files: readonly string[]
  readonly mistakes: readonly ConfigMistake[]

  constructor(
    message: string | readonly ConfigMistake[],
    { files = [], ...options }: ErrorOptions & { readonly files?: readonly string[] } = {},
  ) {
    const mistakes = typeof message === 'string' ? [{ text: message }] : message
    super(mistakes.map(({ text }) => text).join('\n'), options)
    this.files = files
    this.mistakes = mistakes
  }
}

/** `error.message` for an Error, the value as text for anything else that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What a message of several lines begins with. */
export function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}

/** Why a request failed: `fetch failed` says nothing, its cause does. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error)
}

/** A path in a config, as people write it: `rest.shop.endpoints[2].name`. */
export function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'config'
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${String(part)}`))
    .join('')
}
