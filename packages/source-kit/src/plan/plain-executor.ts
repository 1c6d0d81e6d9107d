import * as graphql from 'graphql'
import type { ExecutionArgs } from 'graphql'

export type Executor = (args: ExecutionArgs) => unknown

/** graphql 17 executes documents of schemas with `@defer` by another function. */
const { experimentalExecuteIncrementally: incrementally } = graphql as {
  readonly experimentalExecuteIncrementally?: Executor
}

/**
 * The interpreter of the server or of graphql, as a function that executes any document; undefined for everything else:
 * another plugin put it there for a reason.
 */
export function plainExecutor(executor: Executor, own: Executor | undefined): Executor | undefined {
  if (executor === incrementally || executor === own) return executor
  return executor === graphql.execute ? (incrementally ?? executor) : undefined
}
