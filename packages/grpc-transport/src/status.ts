/** The 17 gRPC status codes by number. */
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
  /** Of the calls that wait for the backend for one client, or of its streams without an end that are open. */
  | { readonly of: 'waiting' | 'streams' }

/** A call ended with a status other than OK. The message is the backend's and may hold internals. */
export class GrpcCallError extends Error {
  override name = 'GrpcCallError'
  readonly status: StatusName
  /** `grpc-status-details-bin` of the trailers. */
  readonly details: Uint8Array | undefined
  /** Whether another attempt may be made at once. Default true; only UNAVAILABLE is ever tried again. */
  readonly retryable: boolean
  /** Whether the backend may have seen the call. Default true; false: it was certainly not carried out. */
  readonly wasSent: boolean
  /** Which of the caller's own limits ended the call; undefined where the backend did. */
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
