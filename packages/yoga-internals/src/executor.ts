import type { ExecutionArgs } from 'graphql'

/** Executes one operation, as graphql's `execute` does. */
type Executor = (args: ExecutionArgs) => unknown

/**
 * The interpreter that a Yoga server executes by, which belongs to a package of Yoga's own. Yoga 5 hands it to Envelop
 * by the first of all plugins (`useEngine`), which does nothing else when an operation is executed. Undefined where it
 * is otherwise: an executor is then nobody's own, which is right and slower.
 */
export function yogasExecutor([engine]: readonly unknown[]): Executor | undefined {
  const hook: unknown = Object(engine)['onExecute']
  let found: unknown
  try {
    if (typeof hook === 'function') hook({ setExecuteFn: (executor: unknown) => (found = executor) })
  } catch {
    return undefined
  }
  return typeof found === 'function' ? (found as Executor) : undefined
}
