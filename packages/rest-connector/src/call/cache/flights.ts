import { Callers, PassingMap, Ending } from '@vinyasa/base'

/** Somebody who wants what a flight brings. */
export interface Passenger {
  readonly ending: Ending | undefined
  /** The context of the operation. */
  readonly context: unknown
}

export type Start<T> = (ending: Ending, callers: Callers) => Promise<T>

/** Requests under way that others may wait for too. */
export interface Flights<T> {
  /** Joins the flight with this key, or starts one. It is cancelled when everybody who waits has left. */
  join(key: string, passenger: Passenger, start: Start<T>): Promise<T>
  /** Whether there is one that may be joined. */
  has(key: string): boolean
  /** Nobody joins what is under way from here on. */
  forget(): void
}

interface Waiter<T> {
  resolve(value: T): void
  reject(reason: unknown): void
  letGo(): void
}

class Flight<T> {
  readonly ending: Ending = new Ending()
  readonly callers: Callers
  /** The callers that wait for it, with one promise each: a request that nobody joins needs no more. */
  readonly waiting: Set<Waiter<T>> = new Set()
  joined = 0

  constructor(first: unknown) {
    this.callers = new Callers(first)
  }

  /** It is over: nothing of it is kept here any more. */
  land(settle: (waiter: Waiter<T>) => void): void {
    this.callers.clear()
    const waiters = [...this.waiting]
    this.waiting.clear()
    for (const { letGo } of waiters) letGo()
    for (const waiter of waiters) settle(waiter)
  }
}

const nothing = (): void => {}

export interface FlightOptions<T> {
  /** Called for each who joins a flight of another's. */
  onShared(): void
  /** Whether changes are heard of; while they are not, nobody joins what may be older than one. Default: always. */
  mayJoin?(): boolean
  /** Makes of a value what several callers may have. Default: the value. */
  share?(value: T): T
}

export function createFlights<T>({
  onShared,
  mayJoin = () => true,
  share = (value) => value,
}: FlightOptions<T>): Flights<T> {
  const flights = new PassingMap<string, Flight<T>>()

  function remove(key: string, flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key)
  }

  function begin(key: string, context: unknown, start: Start<T>): Flight<T> {
    const flight = new Flight<T>(context)
    flights.set(key, flight)
    const land = (settle: (waiter: Waiter<T>) => void): void => {
      remove(key, flight)
      flight.land(settle)
    }
    start(flight.ending, flight.callers).then(
      (value) => {
        const shared = flight.joined > 1 ? share(value) : value
        return land(({ resolve }) => resolve(shared))
      },
      (error: unknown) => land(({ reject }) => reject(error)),
    )
    return flight
  }

  function leave(key: string, flight: Flight<T>, waiter: Waiter<T>, reason: unknown): void {
    waiter.reject(reason)
    flight.waiting.delete(waiter)
    if (flight.waiting.size > 0) return
    remove(key, flight)
    flight.ending.abort(reason)
  }

  return {
    join(key, { ending, context }, start) {
      if (ending?.aborted) return Promise.reject(ending.reason)
      const flight = (mayJoin() ? flights.get(key) : undefined) ?? begin(key, context, start)
      if (++flight.joined > 1) {
        onShared()
        flight.callers.join(context)
      }
      return new Promise((resolve, reject) => {
        const waiter: Waiter<T> = { resolve, reject, letGo: nothing }
        flight.waiting.add(waiter)
        if (!ending) return
        waiter.letGo = ending.onAbort(() => {
          flight.callers.leave(context)
          leave(key, flight, waiter, ending.reason)
        })
      })
    },
    has: (key) => mayJoin() && flights.has(key),
    forget: () => flights.clear(),
  }
}
