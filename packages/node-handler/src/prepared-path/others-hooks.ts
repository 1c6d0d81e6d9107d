import type { FetchAPI } from 'graphql-yoga'
import type { RequestParser } from '../fast-path/body-choices.ts'
import type { Passed, PassedParams, PassedParse, Thrown } from '../fast-path/passed.ts'
import { lazyUrl } from '../http/request-url.ts'
import { after, attempt, type MaybePromise } from '@vinyasa/base'
import { type Hook, type ParamsHandler, runHooks } from '@vinyasa/pipeline'
import type { HookRequest, RequestHandler, ServerContext } from '../yoga/yoga-5.ts'

/** Runs `onRequest`. False where a hook ended the request, or put another request or handler in place. */
export function runRequestHooks(
  hooks: readonly Hook[],
  passed: Passed,
  serverContext: ServerContext,
  { fetchAPI, requestHandler }: { readonly fetchAPI: FetchAPI; readonly requestHandler: RequestHandler },
): MaybePromise<boolean> {
  const { request } = passed
  const payload = {
    request,
    setRequest(given: HookRequest) {
      payload.request = passed.request = given
    },
    serverContext,
    fetchAPI,
    url: lazyUrl(fetchAPI, request),
    requestHandler,
    setRequestHandler(handler: RequestHandler) {
      payload.requestHandler = passed.requestHandler = handler
    },
    endResponse(response: Response | undefined) {
      passed.response = response
    },
  }
  const hasEnded = (): boolean => passed.response !== undefined
  return untilThrown(
    passed,
    () => runHooks(hooks, payload, undefined, hasEnded),
    () => !hasEnded() && passed.request === request && passed.requestHandler === undefined,
  )
}

/** Runs `onRequestParse`. False where a hook reads the request otherwise, or wants to know what was read. */
export function runParseHooks(
  hooks: readonly Hook[],
  passed: Passed,
  serverContext: ServerContext,
  { fetchAPI, parser }: { readonly fetchAPI: FetchAPI; readonly parser: RequestParser | undefined },
): MaybePromise<boolean> {
  const { request } = passed
  const parse: PassedParse = {
    requestParser: undefined,
    response: undefined,
    doneHooks: [],
    thrown: undefined,
  }
  passed.parse = parse
  const payload = {
    request,
    url: lazyUrl(fetchAPI, request),
    requestParser: parser,
    serverContext,
    setRequestParser(chosen: RequestParser) {
      payload.requestParser = parse.requestParser = chosen
    },
    endResponse(response: Response) {
      parse.response = response
    },
    fetchAPI,
  }
  const note = (returned: unknown): void => {
    const { onRequestParseDone } = Object(returned) as { readonly onRequestParseDone?: Hook }
    if (onRequestParseDone) parse.doneHooks.push(onRequestParseDone)
  }
  const hasEnded = (): boolean => parse.response !== undefined
  return untilThrown(
    parse,
    () => runHooks(hooks, payload, note, hasEnded),
    () => !hasEnded() && parse.requestParser === undefined && parse.doneHooks.length === 0,
  )
}

interface GivenParams extends Pick<PassedParams, 'params' | 'paramsHandler'> {
  readonly fetchAPI: FetchAPI
}

/** Runs `onParams`. False where a hook brings a result or a handler of its own. */
export function runParamsHooks(
  hooks: readonly Hook[],
  passed: Passed,
  context: ServerContext,
  { fetchAPI, params: given, paramsHandler }: GivenParams,
): MaybePromise<boolean> {
  const params: PassedParams = { params: given, paramsHandler, result: undefined, thrown: undefined }
  passed.params = params
  const payload = {
    params: given,
    request: passed.request,
    setParams(chosen: unknown) {
      payload.params = params.params = chosen
    },
    paramsHandler,
    setParamsHandler(handler: ParamsHandler) {
      payload.paramsHandler = params.paramsHandler = handler
    },
    setResult(result: unknown) {
      params.result = result
    },
    fetchAPI,
    context,
  }
  return untilThrown(
    params,
    () => runHooks(hooks, payload),
    () => params.result === undefined && params.paramsHandler === paramsHandler,
  )
}

/** Runs `onExecutionResult`; each hook is given what the one before it made of the result. */
export function runResultHooks(
  hooks: readonly Hook[],
  given: unknown,
  request: HookRequest,
  context: ServerContext,
): MaybePromise<unknown> {
  const payload = {
    result: given,
    setResult(result: unknown) {
      payload.result = result
    },
    request,
    context,
  }
  return after(runHooks(hooks, payload), () => payload.result)
}

/** False where a hook throws. */
function untilThrown(
  noted: { thrown: Thrown | undefined },
  run: () => MaybePromise<void>,
  isUsual: () => boolean,
): MaybePromise<boolean> {
  return attempt<boolean>(
    () => after(run(), isUsual),
    (error) => {
      noted.thrown = { error }
      return false
    },
  )
}
