import * as graphql from 'graphql'
import type { ExecutionArgs } from 'graphql'

/** graphql 17 executes documents of schemas with `@defer` by another function. */
const { experimentalExecuteIncrementally: incrementally } = graphql as {
  readonly experimentalExecuteIncrementally?: (args: ExecutionArgs) => unknown
}

/** graphql's own. */
export const interpreter: (args: ExecutionArgs) => unknown = incrementally ?? graphql.execute

/**
 * Tells graphql's own functions, which plugins such as `useEngine` put in place: what stands behind them does
 * the same, and more.
 */
export function isInterpreter(execute: unknown): boolean {
  return execute === graphql.execute || execute === interpreter
}
