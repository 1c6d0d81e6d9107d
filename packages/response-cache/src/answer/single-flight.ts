import { type PassingMap, unlessAborted, type Abortable } from '@vinyasa/core'
import type { CacheEntry } from '../store/entry.ts'

/** The outcome of an execution for which other requests wait. */
export type FlightOutcome =
  | { readonly kind: 'shared'; readonly entry: CacheEntry }
  /** The result must not be shared, e.g. because it has errors. Each waiting request executes the operation. */
  | { readonly kind: 'unshareable' }
  /**
   * The leading request was cancelled, which does not mean that the backend failed. One waiting request executes the
   * operation.
   */
  | { readonly kind: 'abandoned' }

export interface Flight {
  /**
   * Resolves with the outcome. Rejects with the signal's reason if the signal aborts first. The execution continues.
   */
  outcome(signal: Abortable | undefined): Promise<FlightOutcome>
  /** The count of the version clock when the execution began. */
  readonly version: number
  /**
   * Ends the flight. Only the first call has an effect. The flight can be found until `stored` resolves, so that
   * requests which read the shared store too early also share the result.
   */
  settle(outcome: FlightOutcome, stored?: Promise<unknown>): void
}

/** Running executions, by key. */
export type Flights = PassingMap<string, Flight>

/** Adds the flight of an execution that begins at `version`. */
export function leadFlight(flights: Flights, key: string, version: number): Flight {
  let outcome: FlightOutcome | undefined
  // The promise is created on demand, because most flights end without a waiting request.
  let waiting: Promise<FlightOutcome> | undefined
  let resolve: (outcome: FlightOutcome) => void = () => {}
  const flight: Flight = {
    outcome(signal) {
      if (outcome) return Promise.resolve(outcome)
      waiting ??= new Promise((settle) => (resolve = settle))
      return unlessAborted(waiting, signal)
    },
    version,
    settle(result, stored) {
      if (outcome) return
      outcome = result
      if (stored) void stored.finally(leave)
      else leave()
      resolve(result)
    },
  }
  const leave = (): void => {
    if (flights.get(key) === flight) flights.delete(key)
  }
  flights.set(key, flight)
  return flight
}
