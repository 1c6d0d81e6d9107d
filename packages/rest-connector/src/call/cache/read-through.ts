import { type Kept, type ResponseCache, type ResponseTypes } from './response-cache.ts'
import { refreshed } from './cache-control.ts'
import type { RestResponse } from '../../http/attempt.ts'
import { faultOf } from '../../retry/faults.ts'
import { type Callers, type Ending, isLiveRun, liveMomentOf } from '@vinyasa/core'
import type { Flights, Passenger } from './flights.ts'
import type { Counters } from '../stats.ts'

export interface ReadSettings {
  readonly cache: ResponseCache
  readonly flights: Flights<RestResponse>
  readonly counters: Counters
}

/**
 * Asks the upstream, for the reader alone or for the `callers`; with `validators`, whether what is kept still holds: a 304
 * says so.
 */
export type Fetch = (
  ending: Ending | undefined,
  callers: Callers | undefined,
  validators: Kept['validators'],
) => Promise<RestResponse>

type Load = (
  until: Ending | undefined,
  callers: Callers | undefined,
  kept: Kept | undefined,
) => Promise<RestResponse>

/** A GET: from the cache, from a request that is under way for the same key, or from the upstream. */
export function readThrough(
  key: string,
  types: () => ResponseTypes,
  reader: Passenger,
  fetch: Fetch,
  { cache, flights, counters }: ReadSettings,
): Promise<RestResponse> {
  const mark = cache.mark()
  const load: Load = cache.isOff
    ? (until, callers) => fetch(until, callers, undefined)
    : async (until, callers, kept) => {
        const answer = await fetch(until, callers, kept?.validators)
        let response: RestResponse | undefined = answer
        if (kept && answer.status === 304) {
          response = refreshed(kept.response, answer)
          if (response) counters.revalidated++
        }
        // A 304 about another response than the kept one does not help: the upstream is asked for all of it.
        response ??= await fetch(until, callers, undefined)
        cache.set(key, types, response, mark)
        return response
      }
  const ask = (name: string, kept: Kept | undefined) =>
    flights.join(name, reader, (until, callers) => load(until, callers, kept))
  // A run of a live query neither uses a stored response nor joins a request that was sent before it.
  if (isLiveRun(reader.context)) {
    const moment = liveMomentOf(reader.context)
    if (moment === undefined) return load(reader.ending, undefined, undefined)
    return ask(`${moment} ${key}`, undefined)
  }
  const kept = cache.get(key)
  if (kept?.use === 'as it is') {
    counters.cacheHits++
    return Promise.resolve(kept.response)
  }
  if (kept?.use === 'while asking') {
    counters.cacheHits++
    // Nobody waits for it: whoever observes attempts sees how it ends, and what is kept is not kept any longer.
    const refresher = { ending: undefined, context: reader.context }
    if (!flights.has(key))
      flights.join(key, refresher, (until, callers) => load(until, callers, kept)).catch(() => {})
    return Promise.resolve(kept.response)
  }
  counters.cacheMisses++
  const asked = ask(key, kept)
  if (!kept) return asked
  return asked.catch((error: unknown) => {
    if (!faultOf(error).isCovered || !cache.isUsableOnError(key, kept)) throw error
    return kept.response
  })
}
