import { isRecord } from '@vinyasa/core'
import { RestConfigError } from '../errors.ts'
import type { RestEndpoint } from './endpoint-options.ts'
import type { TypeReference } from './fields.ts'
import type { TypeDefinitions } from './type-definitions.ts'

/** The kind of JSON that an answer must be; `one` is anything but a list, be it an object or not. */
export type AnswerShape = 'any' | 'list' | 'object' | 'one'

/** @throws RestConfigError for `listOfOne` of what is no list */
export function answerShapeOf(
  returnType: TypeReference,
  endpoint: RestEndpoint,
  types: TypeDefinitions,
): AnswerShape {
  const shape = declaredShape(returnType, endpoint, types)
  if (shape === 'list' || !endpoint.listOfOne?.length) return shape
  throw new RestConfigError(
    `listOfOne applies only to lists, but returnType is ${returnType.text}; remove listOfOne or correct returnType`,
    {
      path: ['listOfOne'],
    },
  )
}

function declaredShape(
  returnType: TypeReference,
  { responseSchema }: RestEndpoint,
  types: TypeDefinitions,
): AnswerShape {
  const { name, isList, text } = returnType
  const kind = Object.hasOwn(types, name) ? types[name]?.kind : undefined
  // The innermost list of entries is an object in JSON.
  if (kind === 'entry' && isList) return text.startsWith('[[') ? 'list' : 'object'
  if (isList) return 'list'
  if (name === 'JSON') return 'any'
  const isObject = kind === 'object' || kind === 'union' || kind === 'interface'
  return isObject || responseSchema !== undefined ? 'object' : 'one'
}

/** Whether a value is of a shape; where there is none it is. */
export function fits(shape: AnswerShape, value: unknown): boolean {
  if (value === null || value === undefined) return true
  switch (shape) {
    case 'any':
      return true
    case 'list':
      return Array.isArray(value)
    case 'one':
      return !Array.isArray(value)
    case 'object':
      // A transformer may give functions and promises.
      return typeof value === 'function' || isRecord(value)
  }
}

/** A JSON value as a person would call it. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
