import { after, attempt, type MaybePromise } from '@vinyasa/base'
import { type ParamsHandler, runHooks, toErrors } from '@vinyasa/pipeline'
import { passedOf, remaining } from './passed.ts'
import type { HookRequest, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'

export type ParamsPhase = (
  params: unknown,
  request: HookRequest,
  context: ServerContext,
) => MaybePromise<unknown>

/** Runs `onParams`, the execution with Envelop's hooks, and `onExecutionResult`; each item of a batch alone. */
export function createParamsPhase(internals: YogaInternals, handleParams: ParamsHandler): ParamsPhase {
  const { fetchAPI, onParams, onExecutionResult } = internals

  function resultOf(given: unknown, request: HookRequest, context: ServerContext): MaybePromise<unknown> {
    const before = passedOf(context)?.params
    if (before?.thrown) throw before.thrown.error
    let result: unknown = before?.result
    const setResult = (newResult: unknown): void => {
      result = newResult
    }
    const payload = {
      params: before ? before.params : given,
      request,
      setParams(params: unknown) {
        payload.params = params
      },
      paramsHandler: before?.paramsHandler ?? handleParams,
      setParamsHandler(handler: ParamsHandler) {
        payload.paramsHandler = handler
      },
      setResult,
      fetchAPI,
      context,
    }
    const hooks = before ? remaining(onParams, passedOf(context)) : onParams
    const executed = after(runHooks(hooks, payload), () => {
      const { params, paramsHandler } = payload
      return result || paramsHandler({ request, params, context })
    })
    return after(executed, (value) => {
      result = value
      if (onExecutionResult.length === 0) return result
      const seen = { result, setResult, request, context }
      // Each hook gets what the one before it made of the result.
      const follow = (): void => void (seen.result = result)
      return after(runHooks(onExecutionResult, seen, follow), () => result)
    })
  }

  return function execute(params, request, context) {
    if (!Array.isArray(params)) return resultOf(params, request, context)
    return Promise.all(
      params.map((each: unknown) =>
        attempt(
          () => resultOf(each, request, Object.create(context) as ServerContext),
          (error) => ({ errors: toErrors(error, internals) }),
        ),
      ),
    )
  }
}
