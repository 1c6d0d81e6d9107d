import { BadStatus } from '../http/attempt.ts'
import type { Clock } from '@vinyasa/base'
import { single } from '../http/header-values.ts'
import type { HttpMethod } from '../http/http-method.ts'
import { faultOf } from './faults.ts'
import { backoffCeiling, parseRetryAfter, type RetryOptions } from './retry-policy.ts'

export interface RetryContext {
  readonly policy: RetryOptions
  readonly method: HttpMethod
  readonly clock: Clock
  readonly random: () => number
  /** When the whole call has to be over, by the clock. */
  readonly endsAt: number
}

const IDEMPOTENT: ReadonlySet<HttpMethod> = new Set(['GET', 'PUT', 'DELETE'])

/** Milliseconds until another try; undefined where one would be wrong, or where there is no time for it. */
export function retryDelay(error: unknown, attempt: number, context: RetryContext): number | undefined {
  const { policy, clock, random, endsAt } = context
  if (attempt > policy.maxRetries || !isWorthRetrying(error, context)) return undefined
  const header = error instanceof BadStatus ? single(error.headers['retry-after']) : undefined
  const asked = parseRetryAfter(header, clock.wallNow())
  // Sooner would be refused again; what is longer than the call may take is not waited for at all.
  const delay = asked ?? random() * backoffCeiling(policy, attempt)
  return clock.now() + delay >= endsAt ? undefined : delay
}

function isWorthRetrying(error: unknown, { policy, method }: RetryContext): boolean {
  if (error instanceof BadStatus) return policy.retryStatuses.includes(error.status)
  return faultOf(error).repeats === 'idempotent' && IDEMPOTENT.has(method)
}
