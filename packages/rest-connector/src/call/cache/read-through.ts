import { freeze, type ResponseCache, type ResponseTypes } from './response-cache.ts'
import type { RestResponse } from '../../http/attempt.ts'
import type { Ending } from '../../http/ending.ts'
import type { Flights } from './flights.ts'
import type { Counters } from '../stats.ts'

export interface ReadSettings {
  readonly cache: ResponseCache
  readonly flights: Flights<RestResponse>
  readonly counters: Counters
}

/** A GET: from the cache, from a request that is under way for the same key, or from the upstream. */
export async function readThrough(
  key: string,
  types: () => ResponseTypes,
  { isFresh, ending }: { readonly isFresh: boolean; readonly ending: Ending | undefined },
  fetch: (ending: Ending | undefined) => Promise<RestResponse>,
  { cache, flights, counters }: ReadSettings,
): Promise<RestResponse> {
  const mark = cache.mark()
  const load = async (until: Ending | undefined): Promise<RestResponse> => {
    const response = await fetch(until)
    cache.set(key, types, response, mark)
    return response
  }
  // A live re-execution wants what is true now: neither a stored answer nor one that was asked for before.
  if (isFresh) return load(ending)
  const cached = cache.get(key)
  if (cached) {
    counters.cacheHits++
    return cached
  }
  counters.cacheMisses++
  return freezeShared(await flights.join(key, ending, load))
}

function freezeShared(flown: { readonly value: RestResponse; readonly shared: boolean }): RestResponse {
  return flown.shared ? freeze(flown.value) : flown.value
}
