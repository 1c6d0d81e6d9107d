import { GraphQLError } from 'graphql'
import { createGraphQLError } from 'graphql-yoga'
import type { Yoga } from '../yoga.ts'

type Masking = Pick<Yoga, 'maskedErrors' | 'logger'>

/** Converts a thrown value to the errors of a result. Errors are masked as the server is configured, like in Yoga. */
export function toErrors(thrown: unknown, masking: Masking): GraphQLError[] {
  const { maskedErrors, logger } = masking
  if (hasErrors(thrown)) {
    return [...new Set([...thrown.errors].flatMap((error) => toErrors(error, masking)))]
  }
  if (isAbort(thrown)) {
    logger.debug('Request aborted')
    return []
  }
  if (maskedErrors) {
    const masked = maskedErrors.maskError(thrown, maskedErrors.errorMessage, maskedErrors.isDev)
    if (masked !== thrown) logger.error(thrown)
    return [toGraphQLError(masked)]
  }
  if (thrown instanceof Error) return [toGraphQLError(thrown)]
  if (typeof thrown === 'string' || hasText(thrown)) {
    const extensions = { code: 'INTERNAL_SERVER_ERROR', unexpected: true }
    return [createGraphQLError(String(thrown), { extensions })]
  }
  logger.error(thrown)
  return [createGraphQLError('Unexpected error.', { extensions: { unexpected: true } })]
}

function toGraphQLError(error: Error): GraphQLError {
  if (error instanceof GraphQLError) return error
  return createGraphQLError(error.message, { originalError: error })
}

function hasErrors(value: unknown): value is { readonly errors: Iterable<unknown> } {
  return value !== null && typeof value === 'object' && 'errors' in value
}

function hasText(value: unknown): boolean {
  return value != null && typeof (value as { toString?: unknown }).toString === 'function'
}

function isAbort(value: unknown): boolean {
  return value instanceof DOMException && (value.name === 'AbortError' || value.name === 'TimeoutError')
}
