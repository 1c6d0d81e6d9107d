import { hash, randomUUID } from 'node:crypto'
import { canonicalJson } from '@vinyasa/core'

export interface GroupKeyInput {
  readonly schemaNumber: number
  readonly text: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
  readonly throttleMs: number | undefined
  readonly contextKey: string
}

/** Equal only for subscriptions that one execution can serve. */
export function groupKey(input: GroupKeyInput): string {
  const { schemaNumber, text, operationName = '', variables, throttleMs = -1, contextKey } = input
  return digest([schemaNumber, text, operationName, canonical(variables), throttleMs, contextKey])
}

/** A digest of what results depend on besides the query; empty when nothing of it was sent. */
export function contextKeyOf(
  headers: { get(name: string): string | null } | undefined,
  varyHeaders: readonly string[],
  connectionParams: unknown,
): string {
  const values = varyHeaders.map((name) => headers?.get(name) ?? null)
  const params =
    connectionParams === undefined || isEmpty(connectionParams) ? null : canonical(connectionParams)
  if (params === null && values.every((value) => value === null)) return ''
  return digest([varyHeaders, values, params])
}

/**
 * Returns the key that the option `contextKey` gave, whatever that is: `null`, nobody shares, where it is none. `onUnusable` is
 * told then.
 */
export function ownKeyOf(given: unknown, onUnusable: (given: unknown) => void): string | null {
  if (given === null || typeof given === 'string') return given
  if (/^(undefined|number|bigint|boolean)$/.test(typeof given)) return String(given)
  onUnusable(given)
  return null
}

/** Combines what `contextKey` said with what sources read of the request besides. */
export function withOwnKey(own: string | null, forwarded: string): string | null {
  return own === null || forwarded === '' ? own : digest([own, forwarded])
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/** What is no JSON is equal to nothing. */
function canonical(value: unknown): string {
  return canonicalJson(value) ?? randomUUID()
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && (value === null || Object.keys(value).length === 0)
}
