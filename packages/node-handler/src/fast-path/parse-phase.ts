import { isResponse } from '../yoga/last-catch.ts'
import { lazyUrl } from '../http/request-url.ts'
import type { LightRequest } from '../http/light-request.ts'
import { after, type MaybePromise } from '@vinyasa/base'
import { findParserChoice, findSizeLimit, type RequestParser, type SizeLimit } from './body-choices.ts'
import { passedOf, remaining } from './passed.ts'
import { type Hook, runHooks } from '@vinyasa/pipeline'
import type { HookRequest, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'

/** Either what to execute (one or a list), or the response that a hook ended the request with. */
export type Parsed =
  | { readonly response: Response }
  | { readonly response?: undefined; readonly params: unknown }

export type ParsePhase = (request: HookRequest, serverContext: ServerContext) => MaybePromise<Parsed>

/** Runs `onRequestParse`, the parser that the hooks chose, and `onRequestParseDone`. */
export function createParsePhase(internals: YogaInternals): ParsePhase {
  const { fetchAPI, onRequestParse } = internals
  const choice = findParserChoice(internals)
  const sizeLimit = findSizeLimit(internals)
  const hooks = onRequestParse.map((hook) => (hook === sizeLimit?.hook ? limitLight(sizeLimit) : hook))
  const hooksAfterChoice = hooks.filter((hook) => !choice?.hooks.has(hook))

  function read(request: HookRequest, parser: RequestParser): MaybePromise<unknown> {
    if (parser !== choice?.json || !isLight(request) || request.isMaterialised) return parser(request)
    // What is wrong with the body is said by Yoga's parser.
    return request.text().then((text) => parseObject(text) ?? parser(request))
  }

  return function parse(request, serverContext) {
    const passed = passedOf(serverContext)
    const before = passed?.parse
    if (before?.thrown) throw before.thrown.error
    if (before?.response) return { response: before.response }
    let response: Response | undefined
    let ended = false
    const doneHooks: Hook[] = [...(before?.doneHooks ?? [])]
    const payload = {
      request,
      url: lazyUrl(fetchAPI, request),
      requestParser: undefined as RequestParser | undefined,
      serverContext,
      setRequestParser(parser: RequestParser) {
        payload.requestParser = parser
      },
      endResponse(given: Response) {
        response = given
        ended = true
      },
      fetchAPI,
    }
    const isChosen = choice !== undefined && (request.method === 'POST' || request.method === 'GET')
    if (isChosen) payload.requestParser = choice.parserFor(request)
    if (before?.requestParser) payload.requestParser = before.requestParser
    const hooksDone = runHooks(
      remaining(isChosen ? hooksAfterChoice : hooks, before && passed),
      payload,
      (returned) => {
        const doneHook = (returned as { onRequestParseDone?: Hook } | null | undefined)?.onRequestParseDone
        if (doneHook) doneHooks.push(doneHook)
      },
      () => ended,
    )
    return after(hooksDone, () => {
      if (response) return { response }
      const { requestParser } = payload
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
  // Where there is a Content-Length, node:http ends the body there by itself.
  if (contentLength === null) request.addSizeCheck(limit.check)
  return true
}

function isLight(request: HookRequest): request is LightRequest {
  return 'addSizeCheck' in request
}
