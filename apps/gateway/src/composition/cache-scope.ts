import { hash } from 'node:crypto'
import type { ResponseCacheConfig } from '../answers/answer-types.ts'
import type { GatewayConfig } from '../config/types.ts'

/** Descriptors are part of the schema. */
const ASIDE = new Set(['protoMetadata', 'descriptorSet'])

/**
 * Returns a hash that sets the cached answers of this gateway apart from those of others on the same Redis,
 * made of its sources, with their addresses, static headers and code, and of the config's own `prefix`.
 */
export function cacheScope(
  { grpc, rest, resolvers }: GatewayConfig,
  { prefix }: ResponseCacheConfig,
): string {
  const text = describe([prefix ?? null, grpc, rest, resolvers], [])
  return hash('sha256', text, 'base64url')
}

function describe(value: unknown, within: readonly unknown[]): string {
  if (typeof value === 'function') return `${String(value)} ${members(value, within)}`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? typeof value
  if (within.includes(value)) return 'circle'
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return `[${value.map((item) => describe(item, [...within, value])).join(',')}]`
  return members(value, within)
}

function members(value: object, within: readonly unknown[]): string {
  const inside = [...within, value]
  const entries = Object.entries(value)
    .filter(([name]) => !ASIDE.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${describe(member, inside)}`).join(',')}}`
}
