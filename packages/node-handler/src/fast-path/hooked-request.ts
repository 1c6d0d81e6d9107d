import type { OnParams, OnRequest, OnRequestParse } from '../hooks/steps.ts'
import type { ServerContext } from '../yoga/yoga-5.ts'

/** One request on its way through hooks, with the steps that have begun ahead of it. */
export interface HookedRequest {
  readonly context: ServerContext
  readonly onRequest: OnRequest
  onRequestParse: OnRequestParse | undefined
  /** The step of the request's one operation; the operations of a batch have a step each. */
  onParams: OnParams | undefined
}
