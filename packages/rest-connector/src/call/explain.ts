import { GraphQLError } from 'graphql'
import { SentBodyFailed } from '../bodies/wire-body.ts'
import { BadStatus } from '../http/attempt.ts'
import { faultOf, isCircuitOpen } from '../retry/faults.ts'
import { DeadlineExceeded } from '../http/ending.ts'
import { restError, withPlace, type RestErrorFacts } from '../errors.ts'
import { BadResponse, isNetworkError, NoPlace, RedirectRefused, ResponseTooLarge } from '../http/failures.ts'

/** Turns whatever ended a call into the error that a client may read. */
export function explain(cause: unknown, facts: RestErrorFacts): GraphQLError {
  const { code } = faultOf(cause)
  const who = facts.isExposed ? `REST endpoint "${facts.endpoint}"` : 'The upstream'
  if (cause instanceof GraphQLError)
    return Object.hasOwn(cause.extensions, 'connector') ? cause : atCall(cause, facts)
  if (cause instanceof BadStatus) {
    const { status } = cause
    return restError(code, `${who} answered with status ${status}.`, { ...facts, status, cause })
  }
  if (cause instanceof DeadlineExceeded)
    return restError(code, `${who} did not answer within ${cause.ms} ms.`, { ...facts, cause })
  if (cause instanceof ResponseTooLarge) {
    const message = `${who} answered with more than the ${cause.limit} bytes that are allowed.`
    return restError('REST_RESPONSE_TOO_LARGE', message, { ...facts, cause })
  }
  if (cause instanceof BadResponse) {
    // The reason may quote the upstream.
    const reason = facts.isExposed ? `: ${cause.message}` : ''
    return restError('REST_BAD_RESPONSE', `${who} gave an unusable answer${reason}.`, { ...facts, cause })
  }
  if (cause instanceof RedirectRefused)
    return restError('REST_REDIRECT_REFUSED', `${who} was redirected: ${cause.message}.`, { ...facts, cause })
  if (cause instanceof SentBodyFailed)
    return restError('BAD_USER_INPUT', 'A file could not be read to its end.', { ...facts, cause })
  if (cause instanceof NoPlace) return restError(code, cause.message, { ...facts, cause })
  if (isCircuitOpen(cause)) {
    const message = `${who} is not called for now: it failed too often.`
    return restError(code, message, { ...facts, cause })
  }
  if (isAbort(cause)) return restError('CANCELLED', 'The call was cancelled.', { ...facts, cause })
  if (isNetworkError(cause)) return restError(code, `${who} cannot be reached.`, { ...facts, cause })
  return restError(code, `${who} failed unexpectedly.`, { ...facts, cause })
}

/** An error of ours or of an interceptor that was raised before anybody knew which endpoint it is about. */
function atCall(error: GraphQLError, facts: RestErrorFacts): GraphQLError {
  const { connector, endpoint, isExposed } = facts
  const placed = new GraphQLError(error.message, {
    extensions: withPlace(error.extensions, { connector, endpoint, isExposed }),
  })
  Object.defineProperty(placed, 'cause', { value: error.cause ?? error, enumerable: false })
  return placed
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
