import { createHash } from 'node:crypto'
import { isTracingHeader } from '@vinyasa/invalidation'
import { argumentsText } from '../json.ts'
import type { Args } from '../templates/template.ts'
import type { WireRequest } from './transport.ts'

/** Whether requests that differ in this header alone have different keys. */
export function isInKey(header: string): boolean {
  return !isTracingHeader(header)
}

/**
 * Endpoint, sorted arguments, and a digest of the request where interceptors and forwarded headers changed it: two users
 * whose requests differ in anything but tracing never share a response. Credentials are not kept, only their digest.
 */
export function cacheKey(endpoint: string, args: Args, declared: WireRequest, outgoing: WireRequest): string {
  const key = `${endpoint} ${argumentsText(args)}`
  if (outgoing === declared || isSame(declared, outgoing)) return key
  const headers = Object.entries(outgoing.headers)
    .filter(([name]) => isInKey(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const { origin = '', method, path, body } = outgoing
  const digest = createHash('sha256')
    .update(JSON.stringify([origin, method, path, headers, body]))
    .digest('base64url')
  return `${key} ${digest}`
}

/** But for headers that are in no key. */
function isSame(one: WireRequest, other: WireRequest): boolean {
  return (
    one.origin === other.origin &&
    one.method === other.method &&
    one.path === other.path &&
    one.body === other.body &&
    isWithin(one.headers, other.headers) &&
    isWithin(other.headers, one.headers)
  )
}

function isWithin(headers: WireRequest['headers'], others: WireRequest['headers']): boolean {
  for (const name in headers) if (headers[name] !== others[name] && isInKey(name)) return false
  return true
}
