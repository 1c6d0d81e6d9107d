import { type PassingMap, unlessAborted, type Abortable } from '@vinyasa/core'
import type { CacheEntry } from '../store/entry.ts'

/** The outcome of an execution that others wait for. */
export type FlightOutcome =
  | { readonly kind: 'shared'; readonly entry: CacheEntry }
  /** The result must not be shared (errors, not cacheable): each waiter executes for itself. */
  | { readonly kind: 'unshareable' }
  /** The leader was cancelled, which says nothing of the backend: one waiter takes over. */
  | { readonly kind: 'abandoned' }

export interface Flight {
  /** Rejects with the signal's reason when it aborts first; the execution is not touched by that. */
  outcome(signal: Abortable | undefined): Promise<FlightOutcome>
  /** The version clock's reading when the execution began. */
  readonly version: number
  /**
   * The first call counts; later ones do nothing. Until `stored` is done the flight can still be found:
   * who looked into a shared store before the result arrived there shares it as well.
   */
  settle(outcome: FlightOutcome, stored?: Promise<unknown>): void
}

/** Executions under way, by key. */
export type Flights = PassingMap<string, Flight>

/** Adds the flight of an execution that begins at `version`. */
export function leadFlight(flights: Flights, key: string, version: number): Flight {
  let outcome: FlightOutcome | undefined
  // Most flights end without anybody who waits, and need no promise.
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
