import type { FetchAPI } from 'graphql-yoga'
import { after, type MaybePromise } from '@vinyasa/core'
import { type Hook, runHooks } from '@vinyasa/core/pipeline'
import type { HookRequest, ServerContext } from '../yoga/yoga-5.ts'

/** Runs `onResponse` and returns the final response. */
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
