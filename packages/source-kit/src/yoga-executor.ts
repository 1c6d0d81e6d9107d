import type { Executor } from './plan/plain-executor.ts'

type Hook = (payload: { readonly setExecuteFn: (executor: Executor) => void }) => unknown

/**
 * The interpreter that a Yoga server executes by, which belongs to a package of Yoga's own: Yoga 5 hands it to Envelop by
 * the first of all plugins (`useEngine`), which does nothing else when an operation is executed. Checked on 5.24; where it
 * is otherwise there is none, and operations are executed ordinarily.
 */
export function yogasExecutor(plugins: readonly unknown[]): Executor | undefined {
  const hook: unknown = Object(plugins[0])['onExecute']
  let found: Executor | undefined
  try {
    if (typeof hook === 'function') (hook as Hook)({ setExecuteFn: (executor) => (found = executor) })
  } catch {
    return undefined
  }
  return typeof found === 'function' ? found : undefined
}
