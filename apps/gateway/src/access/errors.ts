import { GraphQLError } from 'graphql'

/** Nobody is known to ask, where somebody must be, or the token is not valid (RFC 6750, section 3). HTTP 401. */
export function unauthenticated(message: string, isInvalid = false): GraphQLError {
  const challenge = isInvalid ? 'Bearer error="invalid_token"' : 'Bearer'
  return new GraphQLError(message, {
    extensions: {
      code: 'UNAUTHENTICATED',
      http: { status: 401, headers: { 'www-authenticate': challenge } },
    },
  })
}

/** The keys that would tell are not to be had now. HTTP 503. */
export function keysUnavailable(retryAfterSeconds: number): GraphQLError {
  const seconds = String(Math.max(1, Math.ceil(retryAfterSeconds)))
  return new GraphQLError('The token cannot be verified now; try again later.', {
    extensions: { code: 'SERVICE_UNAVAILABLE', http: { status: 503, headers: { 'retry-after': seconds } } },
  })
}

export type Refused = 'UNAUTHENTICATED' | 'FORBIDDEN'

const MESSAGES: Readonly<Record<Refused, string>> = {
  UNAUTHENTICATED: 'A requested field requires authentication; send a token.',
  FORBIDDEN: 'The caller is not allowed to access a requested field.',
}

/** In the place of a field, beside an answer that is otherwise whole. */
export function refusedField(code: Refused): GraphQLError {
  return new GraphQLError(MESSAGES[code], { extensions: { code } })
}

/** In the place of an operation: HTTP 401 or 403. */
export function refusedOperation(code: Refused): GraphQLError {
  if (code === 'UNAUTHENTICATED') return unauthenticated(MESSAGES[code])
  return new GraphQLError(MESSAGES[code], { extensions: { code, http: { status: 403 } } })
}
