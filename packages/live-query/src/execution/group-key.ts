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

/** Returns a key that is equal for subscriptions that can share an execution. */
export function groupKey(input: GroupKeyInput): string {
  const { schemaNumber, text, operationName = '', variables, throttleMs = -1, contextKey } = input
  return digest([schemaNumber, text, operationName, canonical(variables), throttleMs, contextKey])
}

/**
 * Returns a digest of the request data that results depend on, in addition to the query. It is empty if the request
 * contains none of this data.
 */
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
 * Returns the key from the option `contextKey`. An unusable value becomes `null`, which disables sharing, and
 * `onUnusable` is called.
 */
export function ownKeyOf(given: unknown, onUnusable: (given: unknown) => void): string | null {
  if (given === null || typeof given === 'string') return given
  if (/^(undefined|number|bigint|boolean)$/.test(typeof given)) return String(given)
  onUnusable(given)
  return null
}

/** Combines the key from `contextKey` with the request data that sources read. */
export function withOwnKey(own: string | null, forwarded: string): string | null {
  return own === null || forwarded === '' ? own : digest([own, forwarded])
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/** Values that are not JSON differ from every other value. */
function canonical(value: unknown): string {
  return canonicalJson(value) ?? randomUUID()
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && (value === null || Object.keys(value).length === 0)
}
