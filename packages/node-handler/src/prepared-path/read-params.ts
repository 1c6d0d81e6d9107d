import type { Behaviour, OperationParams } from '@vinyasa/core/pipeline'

type PutText = NonNullable<Behaviour['withText']>

/**
 * Returns the parameters that `parse` reads, with the texts of persisted documents. Returns `undefined` for parameters
 * that Yoga refuses or converts. `target` is the target of a `GET` request.
 */
export function readParams(
  parse: () => unknown,
  putTexts: readonly PutText[],
  target?: string,
): OperationParams | undefined {
  let value: unknown
  try {
    value = parse()
  } catch {
    return undefined
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  for (const putText of putTexts) value = putText(value as Record<string, unknown>, target) ?? value
  const params = value as Readonly<Record<string, unknown>>
  for (const name of Object.keys(params)) if (!isUsual(name, params[name])) return undefined
  return params['query'] === undefined ? undefined : (value as OperationParams)
}

function isUsual(name: string, value: unknown): boolean {
  // Parameters that are missing in the target are `undefined`.
  if (value === undefined) return true
  switch (name) {
    case 'query':
      return typeof value === 'string'
    case 'operationName':
      return value === null || (typeof value === 'string' && value !== '')
    case 'variables':
    case 'extensions':
      return typeof value === 'object' && !Array.isArray(value)
    default:
      return false
  }
}
