/**
 * The specification writes its settings in snake_case; in YAML and JSON they are accepted under those very names.
 * Durations may be written as the specification speaks of them (`timeout: 30s`): see {@link DURATIONS}.
 */
const DURATIONS: Readonly<Record<string, string>> = {
  timeout: 'timeoutMs',
  default_ttl: 'defaultTtlMs',
  stale_while_revalidate: 'staleWhileRevalidateMs',
  initial_backoff: 'initialBackoffMs',
  max_backoff: 'maxBackoffMs',
}

const RENAMED: Readonly<Record<string, string>> = {
  default_header: 'defaultHeaders',
  header: 'headers',
  query_param: 'query',
}

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Keys under these hold names of the user's own (headers, endpoints, variables), never settings. */
const USER_KEYED = new Set([
  'headers',
  'defaultHeaders',
  'query',
  'args',
  'variables',
  'metadata',
  'fields',
  'channelOptions',
  'methods',
  'grpc',
  'rest',
])

/** Renames the specification's settings to the option names of the packages, all through a config. */
export function toCamelCaseNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCaseNames)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const duration = parseDuration(item)
      if (key in DURATIONS && duration !== undefined) return [DURATIONS[key], duration]
      const name = RENAMED[key] ?? key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
      return [name, USER_KEYED.has(name) ? withValuesRenamed(item) : toCamelCaseNames(item)]
    }),
  )
}

function withValuesRenamed(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return toCamelCaseNames(value)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toCamelCaseNames(item)]))
}

/** `30s`, `250ms`, `5m`, `1h` in milliseconds; a bare number counts as seconds; else undefined. */
function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value * 1000
  const match = typeof value === 'string' ? DURATION.exec(value) : null
  if (!match) return undefined
  return Number(match[1]) * (MILLISECONDS[match[2] ?? ''] ?? Number.NaN)
}
