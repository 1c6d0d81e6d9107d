import type { FetchAPI } from 'graphql-yoga'
import { after, type MaybePromise } from '@vinyasa/core'
import { type Hook, runHooks } from '@vinyasa/core/pipeline'
import type { HookRequest, ServerContext } from '../yoga/yoga-5.ts'

/** Calls `onResponse`, and gives the response that the hooks leave. */
export function runResponseHooks(
  hooks: readonly Hook[],
  response: Response,
  request: HookRequest,
  serverContext: ServerContext,
  fetchAPI: FetchAPI,
): MaybePromise<Response> {
  const payload = {
    request,
    response,
    serverContext,
    setResponse(given: Response) {
      payload.response = given
    },
    fetchAPI,
  }
  return after(runHooks(hooks, payload), () => payload.response)
}
