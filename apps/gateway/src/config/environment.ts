import { ConfigError } from '../errors.ts'

const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every string of a parsed YAML or JSON config.
 * `$${` stands for a literal `${`. Throws {@link ConfigError} naming the path of an unset variable.
 */
export function substituteEnvironment(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  path = '',
): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (match, name: string | undefined, fallback: string | undefined) => {
      if (name === undefined) return '${'
      const found = environment[name] ?? fallback
      if (found === undefined) {
        throw new ConfigError(
          `${path || 'config'}: the environment variable ${name} is not set; set it, or write \${${name}:-default}`,
        )
      }
      return found
    })
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => substituteEnvironment(item, environment, `${path}[${index}]`))
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        substituteEnvironment(item, environment, path ? `${path}.${key}` : key),
      ]),
    )
  }
  return value
}
