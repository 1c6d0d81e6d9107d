import type { OnParams } from '../hooks/on-params.ts'
import type { OnRequest } from '../hooks/on-request.ts'
import type { OnRequestParse } from '../hooks/on-request-parse.ts'
import type { ServerContext } from '../yoga/yoga-5.ts'

/** One request on its way through hooks, with the steps that have begun ahead of it. */
export interface HookedRequest {
  readonly context: ServerContext
  readonly onRequest: OnRequest
  onRequestParse: OnRequestParse | undefined
  /** The step of the request's one operation; the operations of a batch have a step each. */
  onParams: OnParams | undefined
}
