import { isPromiseLike } from './maybe-promise.ts'
import { toErrors } from './to-errors.ts'
import type { HookRequest, ParamsHandler, ServerContext, YogaInternals } from './yoga-internals.ts'

export type ParamsPhase = (params: unknown, request: HookRequest, context: ServerContext) => Promise<unknown>

/** Runs `onParams`, Yoga's execution with Envelop's hooks, and `onExecutionResult`; each item of a batch alone. */
export function createParamsPhase(internals: YogaInternals): ParamsPhase {
  const { fetchAPI, onParams, onExecutionResult, handleParams } = internals

  async function resultOf(given: unknown, request: HookRequest, context: ServerContext): Promise<unknown> {
    let result: unknown
    const setResult = (newResult: unknown): void => {
      result = newResult
    }
    const payload = {
      params: given,
      request,
      setParams(params: unknown) {
        payload.params = params
      },
      paramsHandler: handleParams,
      setParamsHandler(handler: ParamsHandler) {
        payload.paramsHandler = handler
      },
      setResult,
      fetchAPI,
      context,
    }
    for (const hook of onParams) {
      const returned = hook(payload)
      if (isPromiseLike(returned)) await returned
    }
    if (!result) {
      const { params, paramsHandler } = payload
      const executing = paramsHandler({ request, params, context })
      result = isPromiseLike(executing) ? await executing : executing
    }
    for (const hook of onExecutionResult) {
      const returned = hook({ result, setResult, request, context })
      if (isPromiseLike(returned)) await returned
    }
    return result
  }

  return async function execute(params, request, context) {
    if (!Array.isArray(params)) return resultOf(params, request, context)
    return Promise.all(
      params.map((each: unknown) =>
        resultOf(each, request, Object.create(context) as ServerContext).catch((error: unknown) => ({
          errors: toErrors(error, internals),
        })),
      ),
    )
  }
}
