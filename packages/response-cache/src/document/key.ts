import { isPlainObject } from '@vinyasa/base'
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

/**
 * JSON with sorted keys at every depth. Returns undefined where the value is not plain JSON (an
 * upload, a date, a function): such a value cannot identify a request.
 */
export function canonicalJson(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (Object.is(value, -0)) return '-0'
      return Number.isFinite(value) ? String(value) : undefined
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return joinAll('[', value, ']')
      return isPlainObject(value) ? canonicalObject(value) : undefined
    default:
      return undefined
  }
}

function joinAll(open: string, items: readonly unknown[], close: string): string | undefined {
  let text = open
  for (let index = 0; index < items.length; index++) {
    const item = canonicalJson(items[index])
    if (item === undefined) return undefined
    text += index === 0 ? item : `,${item}`
  }
  return text + close
}

function canonicalObject(value: Readonly<Record<string, unknown>>): string | undefined {
  let text = '{'
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member === undefined) continue
    const json = canonicalJson(member)
    if (json === undefined) return undefined
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${json}`
  }
  return `${text}}`
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
