import type { CallInfo } from '../http/interceptor.ts'

export interface AttemptOutcome {
  /** The upstream's status, when it answered. */
  readonly status?: number | undefined
  readonly error?: unknown
}

/** Called as an attempt starts; the function it may return is called as the attempt ends. */
export type ObserveAttempt = (info: CallInfo) => ((outcome: AttemptOutcome) => void) | undefined
