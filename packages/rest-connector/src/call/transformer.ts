import type { RestResponse } from '../http/attempt.ts'
import type { CallInfo, ReadsHeaders } from '../interceptors/interceptor.ts'

/** The response that a transformer receives. Cached and shared values are frozen, so create new values. */
export interface TransformableResponse extends RestResponse {
  /** The value at `responsePath`, or the complete body if there is no `responsePath`. */
  readonly data: unknown
}

export type TransformInfo = Pick<CallInfo, 'connector' | 'endpoint' | 'args' | 'context'>

/** Converts a response to the JSON for GraphQL. A transformer that uses `info` can read client headers: see `ReadsHeaders`. */
export interface ResponseTransformer extends ReadsHeaders {
  (response: TransformableResponse, info: TransformInfo): unknown
}
