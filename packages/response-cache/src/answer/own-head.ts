import type { ExecutionResult } from 'graphql'

/**
 * Whether a result, or the first of its parts, says what the head of its answer is: Yoga takes status and headers of
 * `extensions.http`. They are of this one answer, as a cookie may be among them; no entry has them, and without them it
 * would answer otherwise.
 */
export function hasOwnHead({ extensions }: Pick<ExecutionResult, 'extensions'>): boolean {
  return extensions?.['http'] !== undefined && extensions['http'] !== null
}
