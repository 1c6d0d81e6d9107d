import { isRecord, parsePeerJson } from '@vinyasa/core'
import { badUploadRequest } from '../errors.ts'

/** The positions of files in the operations, by the names of the parts. */
export type UploadMap = ReadonlyMap<string, readonly string[]>

export function parseOperations(text: string): object {
  const value = parsed(text, 'operations')
  if (typeof value !== 'object' || value === null)
    throw badUploadRequest('"operations" is not a JSON object or list')
  return value
}

export function parseMap(text: string, maxFiles: number): UploadMap {
  const value = parsed(text, 'map')
  if (!isRecord(value) || !Object.values(value).every(isListOfText))
    throw badUploadRequest('"map" is not a JSON object whose values are lists of paths')
  const map = new Map(Object.entries(value) as [string, readonly string[]][])
  if ([...map.values()].flat().length > maxFiles || map.size > maxFiles)
    throw badUploadRequest(`"map" has more than ${maxFiles} files or paths`)
  return map
}

const MAX_PATH_CHARACTERS = 10_000

/** Places a file at its path, e.g. `variables.files.0`, or `1.variables.file` in a list of operations. */
export function place(operations: object, path: string, file: unknown): void {
  const steps = path.slice(0, MAX_PATH_CHARACTERS).split('.')
  const last = steps.pop() as string
  let value: unknown = operations
  for (const step of steps) value = memberOf(value, step)
  if (path.length > MAX_PATH_CHARACTERS || memberOf(value, last) !== null)
    throw badUploadRequest(
      `the path "${path.slice(0, 100)}" in "map" must point to a null value in "operations", and each value can be used only once`,
    )
  ;(value as Record<string, unknown>)[last] = file
}

function memberOf(value: unknown, step: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as Record<string, unknown>)[step]
    : undefined
}

function parsed(text: string, part: string): unknown {
  try {
    return parsePeerJson(text)
  } catch {
    throw badUploadRequest(`"${part}" is not valid JSON, or has more than 20,000 levels or 100,000 items`)
  }
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
