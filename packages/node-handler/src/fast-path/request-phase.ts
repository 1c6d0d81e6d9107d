import { lazyUrl } from '../http/request-url.ts'
import { after, type MaybePromise } from '@vinyasa/base'
import { passedOf, remaining } from './passed.ts'
import { runHooks } from '@vinyasa/pipeline'
import type { HookRequest, RequestHandler, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'

/** Runs `onRequest`, the handler (which a hook may have wrapped), and `onResponse`. */
export function createRequestPhase(
  { fetchAPI, onRequest, onResponse }: YogaInternals,
  handle: RequestHandler,
): RequestHandler {
  function runOnResponse(
    request: HookRequest,
    response: Response,
    serverContext: ServerContext,
  ): MaybePromise<Response> {
    const payload = {
      request,
      response,
      serverContext,
      setResponse(newResponse: Response) {
        payload.response = newResponse
      },
      fetchAPI,
    }
    return after(runHooks(onResponse, payload), () => payload.response)
  }

  return function serve(request, serverContext) {
    const passed = passedOf(serverContext)
    if (passed?.thrown) throw passed.thrown.error
    let response = passed?.response
    let ended = false
    const payload = {
      request: passed?.request ?? request,
      setRequest(newRequest: HookRequest) {
        payload.request = newRequest
      },
      serverContext,
      fetchAPI,
      url: lazyUrl(fetchAPI, request),
      requestHandler: passed?.requestHandler ?? handle,
      setRequestHandler(handler: RequestHandler) {
        payload.requestHandler = handler
      },
      endResponse(given: Response | undefined) {
        response = given
        if (given) ended = true
      },
    }
    const hooks = response ? [] : remaining(onRequest, passed)
    const hooksDone = runHooks(hooks, payload, undefined, () => ended)
    return after(hooksDone, () => {
      const asked = payload.request
      const answer = response ?? payload.requestHandler(asked, serverContext)
      return after(answer, (given) => runOnResponse(asked, given, serverContext))
    })
  }
}
