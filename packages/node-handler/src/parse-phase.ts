import { lazyUrl } from './lazy-url.ts'
import type { LightRequest } from './light-request.ts'
import { isPromiseLike, type MaybePromise } from './maybe-promise.ts'
import { findParserChoice } from './parser-choice.ts'
import type { SizeLimit } from './size-limit.ts'
import type { HookRequest, ServerContext, YogaInternals } from './yoga-internals.ts'

type RequestParser = (request: HookRequest) => MaybePromise<unknown>
type ParseDone = (payload: {
  readonly requestParserResult: unknown
  setRequestParserResult(result: unknown): void
}) => MaybePromise<unknown>

/** Either what to execute (one or a list), or the response that a hook ended the request with. */
export type Parsed =
  | { readonly response: Response }
  | { readonly response?: undefined; readonly params: unknown }

export type ParsePhase = (request: HookRequest, serverContext: ServerContext) => Promise<Parsed>

/** Runs `onRequestParse`, the parser that the hooks chose, and `onRequestParseDone`. */
export function createParsePhase(
  { fetchAPI, onRequestParse: hooks }: YogaInternals,
  sizeLimit: SizeLimit | undefined,
): ParsePhase {
  const parserChoice = findParserChoice(hooks)
  const chosenHooks = parserChoice ? hooks.slice(parserChoice.hooks) : hooks
  return async function parse(request, serverContext) {
    let response: Response | undefined
    let ended = false
    const doneHooks: ParseDone[] = []
    const payload = {
      request,
      url: lazyUrl(fetchAPI, () => request.url),
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
    const isChosen = parserChoice !== undefined && request.method === 'POST'
    if (isChosen) {
      const contentType = request.headers.get('content-type')
      payload.requestParser = parserChoice.parserFor(contentType) as RequestParser | undefined
    }
    for (const hook of isChosen ? chosenHooks : hooks) {
      if (hook === sizeLimit?.hook && limitWithoutStreams(request, sizeLimit)) continue
      const returned = hook(payload)
      const doneHook = doneHookOf(isPromiseLike(returned) ? await returned : returned)
      if (doneHook) doneHooks.push(doneHook)
      if (ended) break
    }
    if (response) return { response }
    const { requestParser } = payload
    if (!requestParser) {
      return {
        response: new fetchAPI.Response(null, { status: 415, statusText: 'Unsupported Media Type' }),
      }
    }
    let params = await requestParser(request)
    if (isResponse(params)) return { response: params }
    for (const doneHook of doneHooks) {
      const returned = doneHook({
        requestParserResult: params,
        setRequestParserResult(result) {
          params = result
        },
      })
      if (isPromiseLike(returned)) await returned
    }
    return { params }
  }
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

function doneHookOf(result: unknown): ParseDone | undefined {
  return (result as { onRequestParseDone?: ParseDone } | null | undefined)?.onRequestParseDone
}

/** Yoga's own test. */
function isResponse(value: unknown): value is Response {
  const like = value as Response | null | undefined
  return Boolean(like?.status && like.headers)
}
