import type { CircuitBreakerPolicy, CircuitState } from 'cockatiel'
import { faultOf } from './faults.ts'

export interface BreakerOptions {
  /** Share of failed attempts that opens the circuit. Default 0.5. */
  readonly threshold?: number | undefined
  /** Milliseconds until one attempt is let through to see whether the upstream is back. Default 5,000. */
  readonly halfOpenAfterMs?: number | undefined
}

/** What is looked back on, and the attempts in it below which the circuit stays closed. */
const WINDOW_MS = 10_000
const MIN_REQUESTS = 20

export type BreakerState = 'off' | 'closed' | 'open' | 'half-open'

export interface Breaker {
  /** Runs an attempt, or rejects at once with a `BrokenCircuitError`. */
  run<T>(attempt: () => Promise<T>): Promise<T>
  readonly state: BreakerState
}

/** By the numbers of cockatiel's `CircuitState`; one that is isolated lets nothing through. */
const STATES = ['closed', 'open', 'half-open', 'open'] as const satisfies Record<CircuitState, BreakerState>

/** A circuit breaker around the attempts of one connector. It reads the machine's clock. */
export function createBreaker(
  options: BreakerOptions | boolean | undefined,
  onChange?: (state: 'open' | 'closed') => void,
): Breaker {
  if (!options) return { run: (attempt) => attempt(), state: 'off' }
  const { threshold = 0.5, halfOpenAfterMs = 5_000 } = options === true ? {} : options
  // Only a connector that has a breaker pays for the library.
  let policy: CircuitBreakerPolicy | undefined
  const opening = import('cockatiel').then(({ circuitBreaker, handleWhen, SamplingBreaker }) => {
    policy = circuitBreaker(
      handleWhen((error) => faultOf(error).isCounted),
      {
        halfOpenAfter: halfOpenAfterMs,
        breaker: new SamplingBreaker({
          threshold,
          duration: WINDOW_MS,
          minimumRps: (MIN_REQUESTS * 1000) / WINDOW_MS,
        }),
      },
    )
    // Each attempt that is let through and fails opens it again.
    let isOpen = false
    policy.onBreak(() => {
      if (!isOpen) onChange?.('open')
      isOpen = true
    })
    policy.onReset(() => {
      isOpen = false
      onChange?.('closed')
    })
    return policy
  })
  return {
    run: (attempt) => (policy ? policy.execute(attempt) : opening.then((opened) => opened.execute(attempt))),
    get state() {
      return policy ? STATES[policy.state] : 'closed'
    },
  }
}
