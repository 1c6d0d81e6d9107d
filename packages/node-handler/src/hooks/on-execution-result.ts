import { after, type MaybePromise } from '@vinyasa/core'
import { type Hook, runHooks } from '@vinyasa/core/pipeline'
import type { HookRequest, ServerContext } from '../yoga/yoga-5.ts'

/**
 * Runs `onExecutionResult` and returns the result of the last hook. Each hook receives the result of the previous hook.
 */
export function runExecutionResultHooks(
  hooks: readonly Hook[],
  result: unknown,
  request: HookRequest,
  context: ServerContext,
): MaybePromise<unknown> {
  if (hooks.length === 0) return result
  const payload = {
    result,
    setResult(given: unknown) {
      payload.result = given
    },
    request,
    context,
  }
  return after(runHooks(hooks, payload), () => payload.result)
}
