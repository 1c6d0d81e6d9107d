import type { RestResponse } from '../http/attempt.ts'
import type { CallInfo, ReadsHeaders } from '../interceptors/interceptor.ts'

/** A response as the transformer sees it. Values that are cached or shared are frozen: build new ones. */
export interface TransformableResponse extends RestResponse {
  /** The value that `responsePath` found; the whole body without one. */
  readonly data: unknown
}

export type TransformInfo = Pick<CallInfo, 'connector' | 'endpoint' | 'args' | 'context'>

/** Converts a response to the JSON that GraphQL gets. One that takes `info` may read who asks: see `ReadsHeaders`. */
export interface ResponseTransformer extends ReadsHeaders {
  (response: TransformableResponse, info: TransformInfo): unknown
}
