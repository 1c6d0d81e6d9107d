import { RestConfigError } from '../errors.ts'
import { checkedHeader } from '../templates/header-template.ts'

/** Takes the allowed inbound headers out of a GraphQL context. */
export type ForwardHeaders = (context: unknown) => Record<string, string>

/** Headers that belong to one connection or one body, or that the HTTP client sets itself. */
const NEVER = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export function createForwardHeaders(names: readonly string[]): ForwardHeaders | undefined {
  if (names.length === 0) return undefined
  const lowerCase = names.map((name) => name.toLowerCase())
  for (const [index, name] of lowerCase.entries())
    if (NEVER.has(name))
      throw new RestConfigError(
        `forwardHeaders must not name "${name}": it belongs to the inbound connection`,
        { path: ['forwardHeaders', index] },
      )
  return (context) => {
    const inbound = (context as { request?: { headers?: unknown } } | null | undefined)?.request?.headers
    const forwarded: Record<string, string> = {}
    for (const name of lowerCase) {
      const value = read(inbound, name)
      if (value !== undefined) forwarded[name] = checkedHeader(name, value)
    }
    return forwarded
  }
}

/** Fetch's `Headers`, or the plain object that Node's own requests carry. */
function read(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  if ('get' in headers && typeof headers.get === 'function') {
    const value: unknown = headers.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const value: unknown = Object.hasOwn(headers, name) ? (headers as Record<string, unknown>)[name] : undefined
  return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined
}
