import type { ExecutionResult, GraphQLError } from 'graphql'
import { mapAsyncIterator } from 'graphql-yoga'
import type { MaskedErrors } from '../yoga.ts'

/** A result, or its parts, with errors as clients may see them: as Envelop's `useMaskedErrors` leaves them, the last of all plugins. */
export function createMasking(masked: MaskedErrors | undefined): {
  whole(result: ExecutionResult): ExecutionResult
  parts(results: AsyncIterable<unknown>): AsyncIterable<unknown>
} {
  function whole(result: ExecutionResult): ExecutionResult {
    const { errors } = result
    if (!masked || errors == null) return result
    const { errorMessage, isDev } = masked
    const safe = errors.map((error) => masked.maskError(error, errorMessage, isDev) as GraphQLError)
    return { ...result, errors: safe }
  }
  return {
    whole,
    parts: (results) =>
      masked ? mapAsyncIterator(results, (part) => whole(part as ExecutionResult)) : results,
  }
}
