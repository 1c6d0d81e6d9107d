import type { FetchAPI } from 'graphql-yoga'
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
      setResultProcessor(processor: ResultProcessor, acceptedMediaType: string) {
        payload.resultProcessor = processor
        mediaType = acceptedMediaType
      },
      serverContext,
    }
    for (const hook of hooks) {
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
