/** Names of the 17 gRPC status codes, indexed by code. */
export const STATUS_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const

export type StatusName = (typeof STATUS_NAMES)[number]

type OwnLimit =
  | { readonly of: 'request' | 'reply'; readonly maxBytes: number }
  /** `waiting`: the client has too many queued calls. `streams`: it has too many open streams without a deadline. */
  | { readonly of: 'waiting' | 'streams' }

/**
 * Thrown if a call ends with a status other than OK. The message comes from the backend and can contain internals.
 */
export class GrpcCallError extends Error {
  override name = 'GrpcCallError'
  readonly status: StatusName
  /** Value of the trailer `grpc-status-details-bin`. */
  readonly details: Uint8Array | undefined
  /**
   * Whether the call can be retried immediately. Only calls with the status UNAVAILABLE are retried. Default true.
   */
  readonly retryable: boolean
  /**
   * Whether the backend can have received the call. `false` means that it certainly did not execute the call. Default
   * true.
   */
  readonly wasSent: boolean
  /** Local limit that ended the call; `undefined` if the backend ended it. */
  readonly ownLimit: OwnLimit | undefined

  constructor(
    status: StatusName,
    message: string,
    options: {
      readonly details?: Uint8Array | undefined
      readonly retryable?: boolean | undefined
      readonly wasSent?: boolean | undefined
      readonly ownLimit?: OwnLimit | undefined
      readonly cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.details = options.details
    this.retryable = options.retryable ?? true
    this.wasSent = options.wasSent ?? true
    this.ownLimit = options.ownLimit
  }
}
