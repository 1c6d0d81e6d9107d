import type { ExecutionResult } from 'graphql'
import { type AcceptPayload, findAcceptChoice, type ResultProcessor } from './accept-choice.ts'
import type { CreateLightResponse } from '../http/light-response.ts'
import { after, type MaybePromise } from '@vinyasa/core'
import { type Hook, runHooks } from '@vinyasa/core/pipeline'
import type { HookRequest, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'

export type ProcessResult = (
  result: unknown,
  request: HookRequest,
  serverContext: ServerContext,
) => MaybePromise<Response>

interface ResultPayload extends AcceptPayload {
  result: unknown
  setResult(result: unknown): void
  resultProcessor: ResultProcessor | undefined
  readonly serverContext: ServerContext
}

/** Runs `onResultProcess` and the processor that the hooks chose for the `Accept` header. */
export function createProcessResult(
  internals: YogaInternals,
  createResponse: CreateLightResponse,
): ProcessResult {
  const { fetchAPI, onResultProcess } = internals
  const choice = findAcceptChoice(internals)
  const choose: Hook = (payload) =>
    choice?.apply(payload as ResultPayload) ? undefined : choice?.hook(payload)
  const hooks = onResultProcess.map((hook) => (hook === choice?.hook ? choose : hook))

  function finish({ resultProcessor, result, acceptableMediaTypes }: ResultPayload, mediaType: string) {
    if (!resultProcessor) {
      return new fetchAPI.Response(null, {
        status: 406,
        statusText: 'Not Acceptable',
        headers: { accept: acceptableMediaTypes.join('; charset=utf-8, ') },
      })
    }
    if (resultProcessor !== choice?.whole) return resultProcessor(result, fetchAPI, mediaType)
    if (isPlain(result)) return write(result, mediaType)
    return withoutStacks(() => resultProcessor(result, fetchAPI, mediaType))
  }

  /** Serializes a result without a status or headers in the same way as Yoga's processor. */
  function write(result: PlainResult, mediaType: string): Response {
    // Yoga calls the function without `this`, too.
    const { stringify = JSON.stringify } = result
    const body = stringify(result)
    if (isBody(body)) return createResponse(body, mediaType)
    const headers = { 'Content-Type': `${mediaType}; charset=utf-8` }
    return new fetchAPI.Response(body, { status: 200, headers })
  }

  return function process(given, request, serverContext) {
    let mediaType = '*/*'
    const payload: ResultPayload = {
      request,
      acceptableMediaTypes: [],
      result: given,
      setResult(result) {
        payload.result = result
      },
      resultProcessor: undefined,
      setResultProcessor(processor, acceptedMediaType) {
        payload.resultProcessor = processor
        mediaType = acceptedMediaType
      },
      serverContext,
    }
    return after(runHooks(hooks, payload), () => finish(payload, mediaType))
  }
}

/**
 * Runs a function without stack traces. Yoga's processor copies each error, and the stack traces of the copies cost
 * more than the rest of a small response. Thrown errors are thrown again with a stack trace.
 */
function withoutStacks<Value>(run: () => Value): Value {
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 0
    return run()
  } catch {
    Error.stackTraceLimit = stackTraceLimit
    return run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

export interface PlainResult extends ExecutionResult {
  readonly stringify?: (result: unknown) => string
}

/** Returns whether a value is a complete result with status 200 that Yoga serializes without changes. */
export function isPlain(result: unknown): result is PlainResult {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return false
  if (Symbol.asyncIterator in result) return false
  const { errors, extensions } = result as ExecutionResult
  return !errors?.length && !extensions?.['http']
}

/** A cached response returns bytes, although Yoga's types declare a string. */
export function isBody(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' ? body !== '' : body instanceof Uint8Array && body.byteLength > 0
}
