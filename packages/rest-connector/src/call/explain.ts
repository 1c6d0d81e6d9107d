import { GraphQLError } from 'graphql'
import { SentBodyFailed } from '../bodies/wire-body.ts'
import { BadStatus } from '../http/attempt.ts'
import { faultOf, isCircuitOpen } from '../retry/faults.ts'
import { DeadlineExceeded } from '../http/ending.ts'
import { errorAt, restError, type RestErrorCode, type RestErrorFacts } from '../errors.ts'
import { BadResponse, isNetworkError, NoPlace, RedirectRefused, ResponseTooLarge } from '../http/failures.ts'

/** Turns whatever ended a call into the error that a client may read. */
export function explain(cause: unknown, facts: RestErrorFacts): GraphQLError {
  const { code } = faultOf(cause)
  const { connector, endpoint, isExposed } = facts
  const who = isExposed ? `REST endpoint "${endpoint}"` : 'The upstream'
  if (cause instanceof GraphQLError) {
    const { message, extensions } = cause
    if (Object.hasOwn(extensions, 'connector')) return cause
    // An error of ours or of an interceptor that was raised before anybody knew which endpoint it is about.
    return errorAt(message, extensions, { connector, endpoint, isExposed, cause: cause.cause ?? cause })
  }
  const told = (message: string, as: RestErrorCode = code, status?: number): GraphQLError =>
    restError(as, message, { ...facts, status, cause })
  if (cause instanceof BadStatus)
    return told(`${who} responded with status ${cause.status}.`, code, cause.status)
  if (cause instanceof DeadlineExceeded) return told(`${who} did not respond within ${cause.ms} ms.`)
  if (cause instanceof ResponseTooLarge)
    return told(
      `${who} sent a response that exceeds the limit of ${cause.limit} bytes.`,
      'REST_RESPONSE_TOO_LARGE',
    )
  if (cause instanceof BadResponse) {
    // The reason may quote the upstream.
    const reason = isExposed ? `: ${cause.message}` : ''
    return told(`${who} sent an invalid response${reason}.`, 'REST_BAD_RESPONSE')
  }
  if (cause instanceof RedirectRefused)
    return told(`${who} sent a redirect that was refused: ${cause.message}.`, 'REST_REDIRECT_REFUSED')
  if (cause instanceof SentBodyFailed)
    return told('An uploaded file could not be read completely. Send the request again.', 'BAD_USER_INPUT')
  if (cause instanceof NoPlace) return told(cause.message)
  if (isCircuitOpen(cause))
    return told(`${who} was not called, because the circuit breaker is open after too many failed calls.`)
  if (cause instanceof Error && cause.name === 'AbortError')
    return told('The call was cancelled.', 'CANCELLED')
  return told(isNetworkError(cause) ? `${who} cannot be reached.` : `${who} failed unexpectedly.`)
}
