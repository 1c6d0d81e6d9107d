import type { CallEnded } from '@vinyasa/source-kit'
import type { CallInfo } from '../interceptors/interceptor.ts'

export interface AttemptOutcome {
  /** The upstream's status, when it answered. */
  readonly status?: number | undefined
  readonly error?: unknown
  /** The upstream could not be reached, gave no answer in time, or said that it is unavailable. Default false. */
  readonly isUnavailable?: boolean | undefined
  /** There was an error because those who asked want no answer any more: a request was abandoned. Default false. */
  readonly callerLeft?: boolean | undefined
}

/** Called as an attempt starts; the function it may return is called as the attempt ends. */
export type ObserveAttempt = (info: CallInfo) => CallEnded<AttemptOutcome> | undefined
