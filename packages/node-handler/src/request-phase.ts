import { isPromiseLike } from './maybe-promise.ts'
import type { HookRequest, RequestHandler, ServerContext, YogaInternals } from './yoga-internals.ts'
import { lazyUrl } from './lazy-url.ts'

/** Runs `onRequest`, the handler (which a hook may have wrapped), and `onResponse`. */
export function createRequestPhase(
  { fetchAPI, onRequest, onResponse }: YogaInternals,
  handle: RequestHandler,
): RequestHandler {
  async function runOnResponse(
    request: HookRequest,
    response: Response,
    serverContext: ServerContext,
  ): Promise<Response> {
    const payload = {
      request,
      response,
      serverContext,
      setResponse(newResponse: Response) {
        payload.response = newResponse
      },
      fetchAPI,
    }
    for (const hook of onResponse) {
      const returned = hook(payload)
      if (isPromiseLike(returned)) await returned
    }
    return payload.response
  }

  return async function serve(request, serverContext) {
    let response: Response | undefined
    let ended = false
    const payload = {
      request,
      setRequest(newRequest: HookRequest) {
        payload.request = newRequest
      },
      serverContext,
      fetchAPI,
      url: lazyUrl(fetchAPI, () => request.url),
      requestHandler: handle,
      setRequestHandler(handler: RequestHandler) {
        payload.requestHandler = handler
      },
      endResponse(given: Response | undefined) {
        response = given
        if (given) ended = true
      },
    }
    for (const hook of onRequest) {
      const returned = hook(payload)
      if (isPromiseLike(returned)) await returned
      if (ended) break
    }
    const asked = payload.request
    const answer = response ?? (await payload.requestHandler(asked, serverContext))
    return runOnResponse(asked, answer, serverContext)
  }
}
