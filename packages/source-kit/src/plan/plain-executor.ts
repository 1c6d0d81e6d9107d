import * as graphql from 'graphql'
import type { ExecutionArgs } from 'graphql'

export type Executor = (args: ExecutionArgs) => unknown

/** graphql 17 executes documents of schemas with `@defer` by another function. */
const { experimentalExecuteIncrementally: incrementally } = graphql as {
  readonly experimentalExecuteIncrementally?: Executor
}

/**
 * The interpreter of Yoga or graphql, as a function that executes any document; undefined for everything else: another
 * plugin put it there for a reason. Yoga's is known by its name, since it belongs to a package of Yoga's own.
 */
export function plainExecutor(executor: Executor): Executor | undefined {
  if (executor === incrementally || executor.name === 'normalizedExecutor') return executor
  return executor === graphql.execute ? (incrementally ?? executor) : undefined
}
