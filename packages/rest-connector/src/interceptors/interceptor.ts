import type { HttpMethod } from '../http/http-method.ts'
import type { Args } from '../templates/template.ts'

/** An outgoing request. Interceptors modify it. */
export interface OutgoingRequest {
  method: HttpMethod
  /** The URL. It must keep the origin and path of the base URL, unless `allowOriginChange` is set. */
  url: URL
  readonly headers: Headers
  /** The body. It is undefined for requests without a body and for files, which are streamed. A new value replaces the body. */
  body: string | undefined
}

/** Information about the call of an interceptor. */
export interface CallInfo {
  readonly connector: string
  readonly endpoint: string
  readonly args: Args
  /** 1 for the first attempt of a call. */
  readonly attempt: number
  /** The GraphQL context, if an operation made the call. */
  readonly context: unknown
  /** Aborts when the caller no longer waits for the call. */
  readonly signal: AbortSignal
}

/** A function with access to the GraphQL context. It can declare the request headers that it reads. */
export interface ReadsHeaders {
  /**
   * Names of all client headers that affect the function's result. `[]` declares that it reads no headers. If this is missing, a
   * response cache does not store results of the connector's fields unless it has a `session` function.
   */
  readonly readsHeaders?: readonly string[] | undefined
}

/**
 * Runs before every attempt. An error that it throws ends the call. A `GraphQLError` is sent to the client unchanged.
 * `Object.assign((request, { context }) => { ... }, { readsHeaders: ['x-tenant'] })` declares the headers that it reads.
 */
export interface RequestInterceptor extends ReadsHeaders {
  (request: OutgoingRequest, info: CallInfo): void | Promise<void>
  /**
   * Called with the request's headers after a 401. It returns true if a new credential is available. The request is then sent
   * once more.
   */
  readonly onUnauthorized?: ((sent: Readonly<Record<string, string>>) => boolean) | undefined
}
