import { createHash } from 'node:crypto'

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
  return digest(
    JSON.stringify([schemaNumber, text, operationName, sorted(variables), throttleMs, contextKey]),
  )
}

/** A digest of what results depend on besides the query; empty when nothing of it was sent. */
export function contextKeyOf(
  headers: { get(name: string): string | null } | undefined,
  varyHeaders: readonly string[],
  connectionParams: unknown,
): string {
  const values = varyHeaders.map((name) => headers?.get(name) ?? null)
  const params = connectionParams === undefined || isEmpty(connectionParams) ? null : sorted(connectionParams)
  if (params === null && values.every((value) => value === null)) return ''
  return digest(JSON.stringify([varyHeaders, values, params]))
}

/** Combines what `contextKey` said with what sources read of the request besides. */
export function withOwnKey(own: string | null, forwarded: string): string | null {
  return own === null || forwarded === '' ? own : digest(JSON.stringify([own, forwarded]))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && (value === null || Object.keys(value).length === 0)
}

/** The same value with the keys of every object in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}
