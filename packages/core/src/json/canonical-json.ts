import { isPlainObject } from '../objects.ts'

/**
 * Returns JSON with sorted keys, so that equal values have equal strings. `other` returns the string for
 * values that are not plain JSON, such as uploads, dates and functions. The result is `undefined` if `other`
 * is missing or returns `undefined`.
 */
export function canonicalJson(
  value: unknown,
  other: (value: unknown) => string | undefined = () => undefined,
): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) {
    let text = '['
    for (let index = 0; index < value.length; index++) {
      const item = canonicalJson(value[index], other)
      if (item === undefined) return undefined
      text += index === 0 ? item : `,${item}`
    }
    return `${text}]`
  }
  if (!isPlainObject(value) || typeof value['toJSON'] === 'function') return other(value)
  let text = '{'
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue
    const member = canonicalJson(value[key], other)
    if (member === undefined) return undefined
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${member}`
  }
  return `${text}}`
}
