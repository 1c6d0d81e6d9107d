import type { RestResponse } from '../http/attempt.ts'
import type { ReadsHeaders } from '../interceptors/interceptor.ts'
import type { Args } from '../templates/template.ts'

/** A response as the transformer sees it. Values that are cached or shared are frozen: build new ones. */
export interface TransformableResponse extends RestResponse {
  /** The value that `responsePath` found; the whole body without one. */
  readonly data: unknown
}

export interface TransformInfo {
  readonly connector: string
  readonly endpoint: string
  readonly args: Args
  /** The GraphQL context, when the call was made for an operation. */
  readonly context: unknown
}

/** Converts a response to the JSON that GraphQL gets. One that takes `info` may read who asks: see `ReadsHeaders`. */
export interface ResponseTransformer extends ReadsHeaders {
  (response: TransformableResponse, info: TransformInfo): unknown
}
