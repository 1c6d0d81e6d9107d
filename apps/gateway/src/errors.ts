import { type Finding, findingsOf, formatFinding } from '@vinyasa/core'

/**
 * Something in the config or the environment stops the gateway from starting.
 * Each line of the message says: where, what was found, what was expected, how to fix it.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'CONFIG_ERROR'
  /** What of the config was asked for until then, for `--watch`. */
  readonly files: readonly string[]
  /** A line each, with the path of its setting. */
  readonly findings: readonly Finding[]

  constructor(
    message: string | readonly Finding[],
    { files = [], ...options }: ErrorOptions & { readonly files?: readonly string[] } = {},
  ) {
    const findings = typeof message === 'string' ? [{ message }] : message
    super(findings.map(formatFinding).join('\n'), options)
    this.files = files
    this.findings = findings
  }
}

/** What is wrong with one setting, with which the message begins. */
export function findingAt(path: readonly PropertyKey[], text: string): Finding {
  return { message: `${formatPath(path)}: ${text}`, path }
}

/** An error about one setting. */
export function mistakeAt(path: readonly PropertyKey[], text: string, options?: ErrorOptions): ConfigError {
  return new ConfigError([findingAt(path, text)], options)
}

/** What was found wrong in a setting, with the setting before each line. `asWritten`: the paths in it as the config has them. */
export function mistakesAt(
  path: readonly PropertyKey[],
  error: unknown,
  asWritten = ({ path: inside = [] }: Finding): readonly PropertyKey[] => inside,
): ConfigError {
  const findings = findingsOf(error).map((one) => ({
    message: `${formatPath(path)}: ${formatFinding(one)}`,
    path: [...path, ...asWritten(one)],
  }))
  return new ConfigError(findings, { cause: error })
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

/** A path in a config, as people write it: `rest.shop.endpoints[2].name`, `cost.fields["Query.user"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'config'
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`
      if (/[.\s]/.test(String(part))) return `["${String(part)}"]`
      return `${index ? '.' : ''}${String(part)}`
    })
    .join('')
}
