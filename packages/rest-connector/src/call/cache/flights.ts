import { Callers, PassingMap, Ending } from '@vinyasa/core'

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

interface Flight<T> {
  readonly ending: Ending
  readonly callers: Callers
  /** The callers that wait for it, with one promise each: a request that nobody joins needs no more. */
  readonly waiting: Set<Waiter<T>>
  joined: number
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
    const callers = new Callers(context)
    const flight: Flight<T> = { ending: new Ending(), callers, waiting: new Set(), joined: 0 }
    flights.set(key, flight)
    /** It is over: nothing of it is kept here any more. */
    const land = (settle: (waiter: Waiter<T>) => void): void => {
      remove(key, flight)
      callers.clear()
      const waiters = [...flight.waiting]
      flight.waiting.clear()
      for (const { letGo } of waiters) letGo()
      for (const waiter of waiters) settle(waiter)
    }
    start(flight.ending, callers).then(
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
