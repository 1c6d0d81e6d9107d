import { canonicalJson } from '@vinyasa/core'
import { hash } from 'node:crypto'

/**
 * Joins parts so that no two lists give the same text: each part is preceded by its length, and an
 * absent part differs from an empty one.
 */
export function frame(parts: readonly (string | null | undefined)[]): string {
  let text = ''
  for (const part of parts) text += part == null ? '-' : `${part.length}:${part}`
  return text
}

export function sha256(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** The declared variables that were given; absent and null differ. Undefined: not plain JSON. */
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
