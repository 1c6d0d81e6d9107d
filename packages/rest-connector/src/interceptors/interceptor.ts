import type { HttpMethod } from '../http/http-method.ts'
import type { Args } from '../templates/template.ts'

/** A request on its way out; interceptors change it in place. */
export interface OutgoingRequest {
  method: HttpMethod
  /** Must keep the base URL's origin and path, unless `allowOriginChange` is set. */
  url: URL
  readonly headers: Headers
  /** Undefined for one of files too, which are read as they are sent; what is set replaces it. */
  body: string | undefined
}

/** The facts that an interceptor is told about the call. */
export interface CallInfo {
  readonly connector: string
  readonly endpoint: string
  readonly args: Args
  /** 1 for the first attempt of a call. */
  readonly attempt: number
  /** The GraphQL context, when the call was made for an operation. */
  readonly context: unknown
  /** Aborted when the call is over for its caller. */
  readonly signal: AbortSignal
}

/** A function that sees the GraphQL context, and may say what it reads of the client's request. */
export interface ReadsHeaders {
  /**
   * Names of all request headers of the client that change what it does; `[]`: none. Left out: nobody knows, and a
   * response cache does not keep answers of the connector's fields unless it has `session`.
   */
  readonly readsHeaders?: readonly string[] | undefined
}

/**
 * Runs before every attempt. What it throws ends the call; a `GraphQLError` reaches the client as it is.
 * `Object.assign((request, { context }) => { ... }, { readsHeaders: ['x-tenant'] })` says what it reads.
 */
export interface RequestInterceptor extends ReadsHeaders {
  (request: OutgoingRequest, info: CallInfo): void | Promise<void>
  /**
   * Called with the request's headers after a 401. True: another credential is there or can be had, with which the request is
   * sent once more.
   */
  readonly onUnauthorized?: ((sent: Readonly<Record<string, string>>) => boolean) | undefined
}
