import { createHash } from 'node:crypto'
import { canonicalJson } from '../json.ts'
import type { Args } from '../templates/template.ts'
import type { WireRequest } from './transport.ts'

/** Headers that differ with every request and say nothing about who asks. */
const TRACING = new Set(['traceparent', 'tracestate', 'baggage', 'x-request-id', 'x-correlation-id'])

/** Whether requests that differ in this header alone have different keys. */
export function isInKey(header: string): boolean {
  return !TRACING.has(header)
}

/**
 * Endpoint, sorted arguments, and a digest of all that interceptors and forwarded headers added: two users whose
 * requests differ in anything but tracing never share a response. Credentials are not kept, only their digest.
 */
export function cacheKey(endpoint: string, args: Args, declared: WireRequest, outgoing: WireRequest): string {
  const key = `${endpoint} ${canonicalJson(args)}`
  if (outgoing === declared) return key
  const added = Object.entries(outgoing.headers)
    .filter(([name, value]) => isInKey(name) && declared.headers[name] !== value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const { origin = '', method, path } = outgoing
  const digest = createHash('sha256')
    .update(JSON.stringify([origin, method, path, added]))
    .digest('base64url')
  return `${key} ${digest}`
}
