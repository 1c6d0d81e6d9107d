import { Ending } from '../../http/ending.ts'

/** Requests under way that others may wait for too. */
export interface Flights<T> {
  /** Joins the flight with this key, or starts one. It is cancelled when everybody who waits has left. */
  join(key: string, ending: Ending | undefined, start: (ending: Ending) => Promise<T>): Promise<Landed<T>>
  /** Nobody joins what is under way from here on. */
  forget(): void
}

export interface Landed<T> {
  readonly value: T
  /** Whether more than one caller has the value. */
  readonly shared: boolean
}

interface Flight<T> {
  readonly result: Promise<T>
  readonly ending: Ending
  waiting: number
  joined: number
}

/** `mayJoin`: whether changes are heard of; while they are not, nobody joins what may be older than one. */
export function createFlights<T>(onShared: () => void, mayJoin: () => boolean = () => true): Flights<T> {
  const flights = new Map<string, Flight<T>>()

  function remove(key: string, flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key)
  }

  function begin(key: string, start: (ending: Ending) => Promise<T>): Flight<T> {
    const ending = new Ending()
    const flight: Flight<T> = {
      ending,
      waiting: 0,
      joined: 0,
      result: start(ending).finally(() => remove(key, flight)),
    }
    flights.set(key, flight)
    return flight
  }

  return {
    async join(key, ending, start) {
      if (ending?.hasEnded) throw ending.reason
      const flight = (mayJoin() ? flights.get(key) : undefined) ?? begin(key, start)
      flight.waiting++
      if (++flight.joined > 1) onShared()
      const value = await waitFor(flight, ending, () => remove(key, flight))
      return { value, shared: flight.joined > 1 }
    },
    forget: () => flights.clear(),
  }
}

function waitFor<T>(flight: Flight<T>, ending: Ending | undefined, onAbandoned: () => void): Promise<T> {
  if (!ending) return flight.result
  return new Promise((resolve, reject) => {
    const letGo = ending.onEnd(() => {
      reject(ending.reason as Error)
      if (--flight.waiting > 0) return
      onAbandoned()
      flight.ending.end(ending.reason)
    })
    void flight.result.then(resolve, reject).finally(letGo)
  })
}
