import { after, attempt, type MaybePromise } from '@vinyasa/base'
import { type Hook, type ParamsHandler, toErrors } from '@vinyasa/pipeline'
import { stepHooks } from '../hooks/hook-step.ts'
import { runExecutionResultHooks } from '../hooks/on-execution-result.ts'
import { OnParams } from '../hooks/on-params.ts'
import type { HookRequest, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import type { HookedRequest } from './hooked-request.ts'

export type ExecuteParams = (
  hooked: HookedRequest,
  params: unknown,
  request: HookRequest,
  context: ServerContext,
) => MaybePromise<unknown>

/** Runs `onParams`, the execution with Envelop's hooks, and `onExecutionResult`; each item of a batch alone. */
export function createExecuteParams(
  internals: YogaInternals,
  handleParams: ParamsHandler,
  runsAhead: (hook: Hook) => boolean,
): ExecuteParams {
  const { fetchAPI, onExecutionResult } = internals
  const hooks = stepHooks(internals.onParams, runsAhead)

  function resultOf(step: OnParams, request: HookRequest, context: ServerContext): MaybePromise<unknown> {
    const executed = after(step.run(hooks), () => {
      const { result, params, paramsHandler } = step
      return result || paramsHandler({ request, params: params as never, context })
    })
    return after(executed, (result) => runExecutionResultHooks(onExecutionResult, result, request, context))
  }

  return (hooked, params, request, context) => {
    const stepOf = (given: unknown, ofOne: ServerContext): OnParams =>
      new OnParams(given, request, ofOne, handleParams, fetchAPI)
    if (!Array.isArray(params)) {
      const step = hooked.onParams ?? stepOf(params, context)
      hooked.onParams = undefined
      return resultOf(step, request, context)
    }
    return Promise.all(
      params.map((each: unknown) =>
        attempt(
          () => {
            const ofOne = Object.create(context) as ServerContext
            return resultOf(stepOf(each, ofOne), request, ofOne)
          },
          (error) => ({ errors: toErrors(error, internals) }),
        ),
      ),
    )
  }
}
