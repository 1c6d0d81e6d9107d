import { isPlainObject } from '../objects.ts'

/**
 * JSON with the keys of all objects in order: equal values have equal text. What is not plain JSON (an upload, a date, a
 * function) has the text that `other` gives it; without one nobody can say what it is equal to, and all is undefined.
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
