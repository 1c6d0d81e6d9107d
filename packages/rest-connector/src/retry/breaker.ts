import type { CircuitBreakerPolicy, CircuitState } from 'cockatiel'
import { faultOf } from './faults.ts'

export interface BreakerOptions {
  /** Share of failed attempts that opens the circuit. Default 0.5. */
  readonly threshold?: number | undefined
  /** Milliseconds until one attempt is sent to test whether the upstream has recovered. Default 5,000. */
  readonly halfOpenAfterMs?: number | undefined
}

/** The sampling window, and the number of attempts in it below which the circuit stays closed. */
const WINDOW_MS = 10_000
const MIN_REQUESTS = 20

export type BreakerState = 'off' | 'closed' | 'open' | 'half-open'

export interface Breaker {
  /** Runs an attempt, or immediately rejects with a `BrokenCircuitError`. */
  run<T>(attempt: () => Promise<T>): Promise<T>
  readonly state: BreakerState
}

/** Indexed by cockatiel's `CircuitState`. An isolated circuit counts as open. */
const STATES = ['closed', 'open', 'half-open', 'open'] as const satisfies Record<CircuitState, BreakerState>

/** Creates a circuit breaker for the attempts of a connector. It uses the system clock. */
export function createBreaker(
  options: BreakerOptions | boolean | undefined,
  onChange?: (state: 'open' | 'closed') => void,
): Breaker {
  if (!options) return { run: (attempt) => attempt(), state: 'off' }
  const { threshold = 0.5, halfOpenAfterMs = 5_000 } = options === true ? {} : options
  // The library is loaded only if a connector has a breaker.
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
    // Each failed test attempt opens the circuit again.
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
