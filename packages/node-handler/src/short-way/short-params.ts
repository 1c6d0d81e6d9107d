import type { ShortParams } from './part.ts'

/** The parameters in a body; undefined for all that Yoga would refuse, or read otherwise. */
export function readParams(text: string): ShortParams | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  for (const name of Object.keys(value)) if (!isUsual(name, Reflect.get(value, name))) return undefined
  return 'query' in value ? (value as ShortParams) : undefined
}

function isUsual(name: string, value: unknown): boolean {
  switch (name) {
    case 'query':
      return typeof value === 'string'
    case 'operationName':
      return value === null || typeof value === 'string'
    case 'variables':
      return typeof value === 'object' && !Array.isArray(value)
    case 'extensions':
      return value === null
    default:
      return false
  }
}
