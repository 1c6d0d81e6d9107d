/** They belong to one connection or one body, or the HTTP client sets them; some send grpc-js into a loop. */
const NEVER = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

/** Returns whether a header must not be forwarded in either direction. `name` is lower case. */
export function isOfConnection(name: string): boolean {
  return NEVER.has(name) || name.startsWith('grpc-') || name.startsWith(':')
}

/**
 * Throws if `forwardHeaders` contains a header that cannot be forwarded. `errorOf` creates the error of the source.
 */
export function refuseForwarded(
  names: readonly string[],
  errorOf: (path: readonly PropertyKey[], message: string) => Error,
): void {
  const index = names.findIndex((name) => isOfConnection(name.toLowerCase()))
  if (index >= 0)
    throw errorOf(
      ['forwardHeaders', index],
      `forwardHeaders must not contain "${names[index]?.toLowerCase()}", because the header describes the connection or the body, or the HTTP or gRPC client sets it; remove the header`,
    )
}

/**
 * Returns a function that reads the request headers of a GraphQL context. It supports Fetch `Headers` and plain
 * objects, on the context or on its `request`.
 */
export function headersOf(context: unknown): ((name: string) => string | undefined) | undefined {
  if (typeof context !== 'object' || context === null) return undefined
  const request = 'request' in context ? context.request : undefined
  const holder = typeof request === 'object' && request !== null && 'headers' in request ? request : context
  const headers: unknown = 'headers' in holder ? holder.headers : undefined
  if (typeof headers !== 'object' || headers === null) return undefined
  if ('get' in headers && typeof headers.get === 'function')
    return (name) => (headers as Headers).get(name) ?? undefined
  const record = headers as Readonly<Record<string, unknown>>
  return (name) => {
    const value = Object.hasOwn(record, name) ? record[name] : undefined
    return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined
  }
}
