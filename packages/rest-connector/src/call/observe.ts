import type { CallEnded } from '@vinyasa/source-kit'
import type { CallInfo } from '../interceptors/interceptor.ts'

export interface AttemptOutcome {
  /** The status of the upstream's response, if there is one. */
  readonly status?: number | undefined
  readonly error?: unknown
  /** The upstream was unreachable, timed out, or reported that it is unavailable. Default false. */
  readonly isUnavailable?: boolean | undefined
  /** The attempt failed because its callers abandoned the request. Default false. */
  readonly callerLeft?: boolean | undefined
}

/** Called when an attempt starts. A returned function is called when the attempt ends. */
export type ObserveAttempt = (info: CallInfo) => CallEnded<AttemptOutcome> | undefined
