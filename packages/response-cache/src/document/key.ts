import { canonicalJson } from '@vinyasa/core'
import { hash } from 'node:crypto'

/** Joins parts unambiguously. Each part follows its length, and a missing part differs from an empty part. */
export function frame(parts: readonly (string | null | undefined)[]): string {
  let text = ''
  for (const part of parts) text += part == null ? '-' : `${part.length}:${part}`
  return text
}

export function sha256(text: string): string {
  return hash('sha256', text, 'base64url')
}

/**
 * Returns the given values of declared variables. A missing value and null differ. Returns `undefined` if a value is
 * not plain JSON.
 */
export function canonicalVariables(
  names: readonly string[],
  variables: Readonly<Record<string, unknown>> | null | undefined,
): string | undefined {
  if (names.length === 0 || !variables) return '{}'
  const declared: Record<string, unknown> = Object.create(null)
  for (const name of names) {
    if (Object.hasOwn(variables, name)) declared[name] = variables[name]
  }
  return canonicalJson(declared)
}
