import type { Finding } from '@vinyasa/core'
import { GraphQLError } from 'graphql'

/** Every `extensions.code` that a connector's field can answer with. */
export type RestErrorCode =
  | 'BAD_USER_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'FAILED_PRECONDITION'
  | 'RATE_LIMITED'
  | 'NOT_IMPLEMENTED'
  | 'SERVICE_UNAVAILABLE'
  | 'TIMEOUT'
  | 'CANCELLED'
  | 'INTERNAL_SERVER_ERROR'
  | 'REST_BAD_RESPONSE'
  | 'REST_RESPONSE_TOO_LARGE'
  | 'REST_REDIRECT_REFUSED'
  | 'REST_TOO_MANY_REQUESTS_IN_OPERATION'
  | 'TOO_MANY_AT_ONCE'

/** The facts of a failure: where it happened, and what of it a client may see. */
export interface RestErrorFacts {
  readonly connector?: string | undefined
  readonly endpoint?: string | undefined
  /** The upstream's HTTP status, when it answered. */
  readonly status?: number | undefined
  /** How many requests were sent. */
  readonly attempts?: number | undefined
  /** `exposeErrors`: clients see all of it. Default false. */
  readonly isExposed?: boolean | undefined
  /** The request's address and the upstream's answer; only set under `exposeErrors`. */
  readonly upstream?: UpstreamDetails | undefined
  /** Kept on the error for logs; never serialised. */
  readonly cause?: unknown
}

export interface UpstreamDetails {
  readonly method: string
  /** The URL as it is declared: the base URL and the endpoint's path with its variables in braces. */
  readonly url: string
  readonly body?: string | undefined
}

/**
 * A failure that a client may read: `message` holds neither URL, nor header values, nor bodies. Where it happened is for
 * logs: `connector`, `endpoint` and `attempts` can be read of the extensions, but go out only under `exposeErrors`.
 */
export function restError(code: RestErrorCode, message: string, facts: RestErrorFacts = {}): GraphQLError {
  const { status } = facts
  return errorAt(message, { code, ...(status !== undefined && { status }) }, facts)
}

/** Creates an error whose extensions contain the place of the failure, which is serialised only where it is exposed. */
export function errorAt(
  message: string,
  given: Readonly<Record<string, unknown>>,
  { connector, endpoint, attempts, upstream, isExposed = false, cause }: RestErrorFacts,
): GraphQLError {
  const extensions = { ...given }
  for (const [name, value] of Object.entries({ connector, endpoint, attempts, upstream }))
    if (value !== undefined) Object.defineProperty(extensions, name, { value, enumerable: isExposed })
  const error = new GraphQLError(message, { extensions })
  if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause, enumerable: false })
  return error
}

/** An argument that cannot be put where the endpoint wants it. The value itself is never part of the message. */
export function badInput(message: string): GraphQLError {
  return restError('BAD_USER_INPUT', message)
}

/** A connector that was declared wrongly: thrown when it is created, or when the server's schema is put together. */
export class RestConfigError extends Error {
  override readonly name = 'RestConfigError'
  readonly code = 'REST_CONFIG'
  /** The one mistake, with the option that it is about. */
  readonly findings: readonly [Finding]

  constructor(
    message: string,
    { path, ...options }: ErrorOptions & { readonly path?: Finding['path'] } = {},
  ) {
    super(message, options)
    this.findings = [{ message, path }]
  }
}

/** Runs `declare`; what it finds wrong is in the option at `path`, and says so after `place`, if there is one. */
export function atPlace<T>(path: readonly PropertyKey[], declare: () => T, place?: string): T {
  try {
    return declare()
  } catch (error) {
    if (!(error instanceof RestConfigError)) throw error
    const { message, cause, findings } = error
    const [{ path: inside = [] }] = findings
    throw new RestConfigError(place === undefined ? message : `${place}: ${message}`, {
      cause,
      path: [...path, ...inside],
    })
  }
}
