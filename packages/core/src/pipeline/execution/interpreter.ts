import * as graphql from 'graphql'
import type { ExecutionArgs } from 'graphql'

/** graphql 17 has a separate function for schemas with `@defer`. */
const { experimentalExecuteIncrementally: incrementally } = graphql as {
  readonly experimentalExecuteIncrementally?: (args: ExecutionArgs) => unknown
}

/** graphql's own executor. */
export const interpreter: (args: ExecutionArgs) => unknown = incrementally ?? graphql.execute

/**
 * Returns whether a function is graphql's own executor. Plugins such as `useEngine` set this executor. It can
 * be ignored, because the inner executor of the pipeline does the same and more.
 */
export function isInterpreter(execute: unknown): boolean {
  return execute === graphql.execute || execute === interpreter
}
