import { BadStatus } from '../http/attempt.ts'
import type { Clock } from '@vinyasa/base'
import { type Ending, wait } from '../http/ending.ts'
import { single } from '../http/decode.ts'
import type { HttpMethod } from '../http/http-method.ts'
import { faultOf } from './faults.ts'
import { backoffCeiling, parseRetryAfter, type RetryOptions } from './retry-policy.ts'

export interface RetryContext {
  readonly policy: RetryOptions
  readonly method: HttpMethod
  readonly clock: Clock
  readonly random: () => number
  /** Ends the whole call. */
  readonly ending: Ending
  /** When the whole call has to be over, by the clock. */
  readonly endsAt: number
  /** Called before each retry; false: the budget is spent, give up. */
  allow(): boolean
}

const IDEMPOTENT: ReadonlySet<HttpMethod> = new Set(['GET', 'PUT', 'DELETE'])

/** Runs `send` until it succeeds, until another try would be wrong, or until there is no time for one. */
export async function retrying<T>(
  send: (attemptNumber: number) => Promise<T>,
  context: RetryContext,
): Promise<T> {
  const { policy, clock, random, ending, endsAt } = context
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(attempt)
    } catch (error) {
      if (attempt > policy.maxRetries || ending.hasEnded || !isWorthRetrying(error, context)) throw error
      const header = error instanceof BadStatus ? single(error.headers['retry-after']) : undefined
      const asked = parseRetryAfter(header, clock.wallNow())
      // Sooner would be refused again; what is longer than the call may take is not waited for at all.
      const delay = asked ?? random() * backoffCeiling(policy, attempt)
      if (clock.now() + delay >= endsAt || !context.allow()) throw error
      await wait(clock, delay, ending)
    }
  }
}

function isWorthRetrying(error: unknown, { policy, method }: RetryContext): boolean {
  if (error instanceof BadStatus) return policy.retryStatuses.includes(error.status)
  return faultOf(error).repeats === 'idempotent' && IDEMPOTENT.has(method)
}
