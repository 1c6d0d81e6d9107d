import type { FetchAPI } from 'graphql-yoga'
import { findAcceptChoice } from './accept-choice.ts'
import { isPromiseLike, type MaybePromise } from './maybe-promise.ts'
import type { HookRequest, ServerContext, YogaInternals } from './yoga-internals.ts'

type ResultProcessor = (result: unknown, fetchAPI: FetchAPI, mediaType: string) => MaybePromise<Response>

export type ResultPhase = (
  result: unknown,
  request: HookRequest,
  serverContext: ServerContext,
) => Promise<Response>

/** Runs `onResultProcess` and the processor that the hooks chose for what the client accepts. */
export function createResultPhase({ fetchAPI, onResultProcess: hooks }: YogaInternals): ResultPhase {
  const acceptChoice = findAcceptChoice(hooks)
  return async function process(given, request, serverContext) {
    let mediaType = '*/*'
    const acceptableMediaTypes: string[] = []
    const payload = {
      request,
      acceptableMediaTypes,
      result: given,
      setResult(result: unknown) {
        payload.result = result
      },
      resultProcessor: undefined as ResultProcessor | undefined,
      setResultProcessor(processor: unknown, acceptedMediaType: string) {
        payload.resultProcessor = processor as ResultProcessor
        mediaType = acceptedMediaType
      },
      serverContext,
    }
    for (const hook of hooks) {
      if (hook === acceptChoice?.hook && acceptChoice.apply(payload)) continue
      const returned = hook(payload)
      if (isPromiseLike(returned)) await returned
    }
    const { resultProcessor, result } = payload
    if (resultProcessor) return resultProcessor(result, fetchAPI, mediaType)
    return new fetchAPI.Response(null, {
      status: 406,
      statusText: 'Not Acceptable',
      headers: { accept: acceptableMediaTypes.join('; charset=utf-8, ') },
    })
  }
}
