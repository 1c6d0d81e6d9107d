import { after, type MaybePromise } from '@vinyasa/base'
import { type Hook, runHooks } from '@vinyasa/pipeline'
import { findParserChoice, findSizeLimit, type RequestParser, type SizeLimit } from '../hooks/body-choices.ts'
import { stepHooks } from '../hooks/hook-step.ts'
import { OnRequestParse } from '../hooks/on-request-parse.ts'
import type { LightRequest } from '../http/light-request.ts'
import { isResponse } from '../yoga/last-catch.ts'
import type { HookRequest, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import type { HookedRequest } from './hooked-request.ts'

/** Either what to execute (one or a list), or the response that a hook ended the request with. */
export type Parsed =
  | { readonly response: Response }
  | { readonly response?: undefined; readonly params: unknown }

export type ParseRequest = (
  hooked: HookedRequest,
  request: HookRequest,
  serverContext: ServerContext,
) => MaybePromise<Parsed>

/** Runs `onRequestParse`, the parser that the hooks chose, and `onRequestParseDone`. */
export function createParseRequest(
  internals: YogaInternals,
  runsAhead: (hook: Hook) => boolean,
): ParseRequest {
  const { fetchAPI } = internals
  const choice = findParserChoice(internals)
  const sizeLimit = findSizeLimit(internals)
  const hooks = internals.onRequestParse.map((hook) =>
    hook === sizeLimit?.hook ? limitLight(sizeLimit) : hook,
  )
  const asked = stepHooks(hooks, runsAhead)
  const chosen = stepHooks(
    hooks.filter((hook) => !choice?.hooks.has(hook)),
    runsAhead,
  )

  function read(request: HookRequest, parser: RequestParser): MaybePromise<unknown> {
    if (parser !== choice?.json || !isLight(request) || request.isMaterialised) return parser(request)
    // Yoga's parser says what is wrong with the body.
    return request.text().then((text) => parseObject(text) ?? parser(request))
  }

  return (hooked, request, serverContext) => {
    const isChosen = choice !== undefined && (request.method === 'POST' || request.method === 'GET')
    const parser = isChosen ? choice.parserFor(request) : undefined
    const step = hooked.onRequestParse ?? new OnRequestParse(request, serverContext, parser, fetchAPI)
    hooked.onRequestParse = undefined
    return after(step.run(isChosen ? chosen : asked), () => {
      const { response, requestParser, doneHooks } = step
      if (response) return { response }
      if (!requestParser) {
        const init = { status: 415, statusText: 'Unsupported Media Type' }
        return { response: new fetchAPI.Response(null, init) }
      }
      return after(read(request, requestParser), (params) => done(params, doneHooks))
    })
  }
}

function done(params: unknown, doneHooks: readonly Hook[]): MaybePromise<Parsed> {
  if (isResponse(params)) return { response: params }
  if (doneHooks.length === 0) return { params }
  const payload = {
    requestParserResult: params,
    setRequestParserResult(result: unknown) {
      payload.requestParserResult = result
    },
  }
  return after(runHooks(doneHooks, payload), () => ({ params: payload.requestParserResult }))
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function limitLight(limit: SizeLimit): Hook {
  return (payload) =>
    limitWithoutStreams((payload as { request: HookRequest }).request, limit)
      ? undefined
      : limit.hook(payload)
}

/** False for a request whose body is a stream already: that one is limited as Yoga does it. */
function limitWithoutStreams(request: HookRequest, limit: SizeLimit): boolean {
  if (!isLight(request) || request.isMaterialised) return false
  const contentLength = request.headers.get('content-length')
  limit.checkHeader(contentLength)
  // A body with a Content-Length is not counted: node:http ends it there by itself.
  if (contentLength === null) request.addSizeCheck(limit.check)
  return true
}

function isLight(request: HookRequest): request is LightRequest {
  return 'addSizeCheck' in request
}
