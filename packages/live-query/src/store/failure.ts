import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { unexpectedError } from '../errors.ts'
import { createVersion, formatError, type LiveResult, type Version, type VersionInput } from './version.ts'

/** Errors that the same request would meet again: trying once more cannot help. */
const LASTING = new Set([
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'FAILED_PRECONDITION',
  'NOT_IMPLEMENTED',
  'GRAPHQL_VALIDATION_FAILED',
])

/** Whether a result is worth another try although nothing announced a change: a backend was away, say. */
export function isWorthRetrying(result: LiveResult): boolean {
  return result.errors?.some((error) => !LASTING.has(codeOf(error))) === true
}

/** Whether the result holds anything but nulls. */
export function bringsData({ data }: LiveResult): boolean {
  if (typeof data !== 'object' || data === null) return false
  return Object.values(data).some((value) => value !== null)
}

/** Errors of a result, as a transport takes them that ends a subscription with them. */
export function toTerminalErrors({ errors = [] }: LiveResult): readonly GraphQLError[] {
  return errors.map((error) => {
    if (error instanceof GraphQLError) return error
    const { message, path, extensions } = error as GraphQLFormattedError
    return new GraphQLError(message, { path: path ?? null, extensions: extensions ?? null })
  })
}

function codeOf(error: unknown): string {
  const extensions = (error as { readonly extensions?: { readonly code?: unknown } } | null)?.extensions
  return typeof extensions?.code === 'string' ? extensions.code : ''
}

/** Returns what stands in the place of a result where there is none. */
export function unexpectedResult(error: unknown): LiveResult {
  return { data: null, errors: [formatError(unexpectedError(error))] }
}

/**
 * Creates a version; what JSON cannot hold, as a BigInt that a scalar lets through or lists nested too deep,
 * becomes an error.
 */
export function versionOrError(input: VersionInput, onError: (error: unknown) => void): Version {
  try {
    return createVersion(input)
  } catch (error) {
    onError(error)
    return createVersion({ ...input, result: unexpectedResult(error) })
  }
}
