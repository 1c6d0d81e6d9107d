import { type Finding, formatFinding } from '@vinyasa/core'
import { GraphQLError } from 'graphql'

/** The kind of failure that stopped a source from being created or reloaded. */
export type GrpcSourceErrorCode =
  | 'GRPC_SOURCE_OPTIONS'
  | 'GRPC_SOURCE_DESCRIPTORS'
  | 'GRPC_SOURCE_LINT'
  | 'GRPC_SOURCE_REFLECTION'
  | 'GRPC_SOURCE_CLOSED'
  | 'GRPC_SOURCE_PLATFORM'

export type { Finding }

/** Creating or reloading a source failed; nothing was started. */
export class GrpcSourceError extends Error {
  readonly code: GrpcSourceErrorCode
  readonly findings: readonly Finding[]

  constructor(
    code: GrpcSourceErrorCode,
    message: string,
    options: {
      readonly cause?: unknown
      /** Default: the message, of the option at `path`. */
      readonly findings?: readonly Finding[]
      readonly path?: Finding['path']
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GrpcSourceError'
    this.code = code
    this.findings = options.findings ?? [{ message, path: options.path }]
  }
}

/** An option, at this path, that cannot be. */
export function optionError(path: readonly PropertyKey[], message: string, cause?: unknown): GrpcSourceError {
  return new GrpcSourceError('GRPC_SOURCE_OPTIONS', message, { cause, path })
}

/** Descriptors, or what they are made of, cannot be used. */
export function descriptorError(message: string, cause?: unknown, path?: Finding['path']): GrpcSourceError {
  return new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', message, { cause, path })
}

/** What an error says, whatever was thrown. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** One error for all findings, each on a line of its own with file and element. */
export function lintError(sourceName: string, findings: readonly Finding[]): GrpcSourceError {
  const lines = findings.map((finding) => `- ${formatFinding(finding)}`)
  return new GrpcSourceError(
    'GRPC_SOURCE_LINT',
    `grpc source "${sourceName}" has ${findings.length} error${findings.length === 1 ? '' : 's'}:\n${lines.join('\n')}`,
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
