import { GraphQLError } from 'graphql'

/** The kind of failure that stopped a source from being created or reloaded. */
export type GrpcSourceErrorCode =
  | 'GRPC_SOURCE_OPTIONS'
  | 'GRPC_SOURCE_DESCRIPTORS'
  | 'GRPC_SOURCE_LINT'
  | 'GRPC_SOURCE_REFLECTION'
  | 'GRPC_SOURCE_CLOSED'
  | 'GRPC_SOURCE_PLATFORM'

/** One thing that is wrong in protos or options, found before anything starts. */
export interface Finding {
  /** The file it is in, as imported; absent when it comes from the options. */
  readonly file?: string | undefined
  /** The method, message or field, fully qualified. */
  readonly element?: string | undefined
  /** The fault and how to mend it. */
  readonly message: string
}

/** Creating or reloading a source failed; nothing was started. */
export class GrpcSourceError extends Error {
  readonly code: GrpcSourceErrorCode
  readonly findings: readonly Finding[]

  constructor(
    code: GrpcSourceErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly findings?: readonly Finding[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GrpcSourceError'
    this.code = code
    this.findings = options.findings ?? []
  }
}

/** Descriptors, or what they are made of, cannot be used. */
export function descriptorError(message: string, cause?: unknown): GrpcSourceError {
  return new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', message, { cause })
}

/** What an error says, whatever was thrown. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** One error for all findings, each on a line of its own with file and element. */
export function lintError(sourceName: string, findings: readonly Finding[]): GrpcSourceError {
  const lines = findings.map(({ file, element, message }) => {
    const place = [file, element].filter((part) => part !== undefined).join(': ')
    return place === '' ? `- ${message}` : `- ${place}: ${message}`
  })
  return new GrpcSourceError(
    'GRPC_SOURCE_LINT',
    `grpc source "${sourceName}" cannot start, ${findings.length} finding${findings.length === 1 ? '' : 's'}:\n${lines.join('\n')}`,
    { findings },
  )
}

/** An argument that no protobuf message can hold. */
export function badInputError(message: string, cause?: unknown): GraphQLError {
  return withCause(new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } }), cause)
}

/** Holds a value of a reply that protobuf's rules do not allow, as its place in the answer tells. */
export function badValueError(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'INTERNAL_SERVER_ERROR' } })
}

/**
 * Attaches what an error came from without showing it to clients: as `cause`, not as GraphQL's
 * `originalError`, for which servers would mask the whole error.
 */
export function withCause(error: GraphQLError, cause: unknown): GraphQLError {
  if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause, configurable: true })
  return error
}
