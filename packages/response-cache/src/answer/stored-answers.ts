import { endingOf, isLiveRun, isPromise, type MaybePromise, openFreshness, PassingMap } from '@vinyasa/core'
import type { PreparedDocument } from '@vinyasa/core/pipeline'
import type { ExecutionResult } from 'graphql'
import type { DocumentProfile } from '../document/document-profile.ts'
import type { CacheEngine } from '../response-cache.ts'
import type { CacheEntry } from '../store/entry.ts'
import type { Lookup, Ticket } from '../store/entries.ts'
import type { Admission, OperationState } from './admission.ts'
import { LazyResult, StoredResult } from './serialized-result.ts'
import { type Flight, type Flights, leadFlight } from './single-flight.ts'

/** A lookup that found an entry. */
export type Hit = Extract<Lookup, { entry: unknown }>

type Answer = ExecutionResult | undefined

/** Answers operations from stored entries, or with the result of another execution. */
export class StoredAnswers {
  readonly #cache: CacheEngine
  readonly #admission: Admission
  readonly #flights: Flights = new PassingMap()

  constructor(cache: CacheEngine, admission: Admission) {
    this.#cache = cache
    this.#admission = admission
  }

  /** Looks for a hit in memory without counting it. `profile` is the profile of the document. */
  findEarly(state: OperationState, profile: DocumentProfile | undefined): Hit | undefined {
    if (!profile || profile.incremental || profile.live || !this.#admission.admit(state, profile))
      return undefined
    const found = state.key && this.#cache.entries.peek(state.key.key)
    if (!found || !('entry' in found)) return undefined
    // A refresh stores with the version of the shared store, which memory does not have.
    return found.state === 'stale' && this.#cache.entries.isShared ? undefined : found
  }

  /** Returns the response, or `undefined` if the operation must be executed. */
  find(state: OperationState, prepared: PreparedDocument): MaybePromise<Answer> {
    const { context } = state
    const profile = this.#admission.profileOf(prepared)
    const isEnabled = this.#admission.isEnabled(state)
    if (!isEnabled)
      state.report.reason =
        'option enabled returned false or an invalid value, or reads request properties such as headers from the context instead of context.request'
    if (!profile || !isEnabled || !this.#admission.admit(state, profile)) {
      this.#cache.emit({ type: 'bypass' })
      return undefined
    }
    const isLive = profile.live || isLiveRun(context)
    const found = this.#cache.entries.lookup(state.key?.key ?? '')
    if (isPromise(found)) return found.then((read) => this.#decide(state, read, isLive))
    return this.#decide(state, found, isLive)
  }

  /** Returns the result of a lookup. */
  answer(state: OperationState, found: Hit): ExecutionResult {
    state.report.outcome = found.state === 'fresh' ? 'HIT' : 'STALE'
    this.#cache.emit({ type: found.state === 'fresh' ? 'hit' : 'stale', key: state.key?.key ?? '' })
    if (found.state === 'stale') this.#startRefresh(state, found.ticket)
    return resultOfEntry(state, found.entry)
  }

  #startRefresh(state: OperationState, { version }: Ticket): void {
    const key = state.key?.key
    const tags = state.profile?.tags
    if (key === undefined || !state.refresh || !tags) return
    if (this.#flightTo(key, tags)) return
    // Claims the key until the refresh ends, so that concurrent requests start only one refresh.
    const claim = leadFlight(this.#flights, key, version)
    void state.refresh().then(() => claim.settle({ kind: 'abandoned' }))
  }

  #decide(state: OperationState, found: Lookup, isLive: boolean): MaybePromise<Answer> {
    if ('entry' in found && !isLive && !state.isRefresh) return this.answer(state, found)
    const flight = this.#joinOrLead(state, found, isLive)
    if (flight) return this.#awaitFlight(state, flight)
    const { outcome } = state.report
    this.#cache.emit(outcome === 'MISS' ? { type: 'miss', key: state.key?.key ?? '' } : { type: 'bypass' })
    return undefined
  }

  /** Returns the flight to wait for, or `undefined` if this operation must be executed. */
  #joinOrLead(state: OperationState, found: Lookup, isLive: boolean): Flight | undefined {
    const { profile, key } = state
    if (found.state === 'unavailable')
      state.report.reason = 'the shared store or the invalidation bus is not available'
    if (found.state === 'unavailable' || !profile || !key) return undefined
    state.ticket = found.ticket
    openFreshness(state.context)
    state.report.outcome = isLive ? 'BYPASS' : 'MISS'
    // A live re-execution must reach the backend. A deferred response starts before it is complete.
    if (isLive || profile.incremental) return undefined
    const flight = state.isRefresh ? undefined : this.#flightTo(key.key, profile.tags)
    if (!flight) state.flight = leadFlight(this.#flights, key.key, found.ticket.version)
    return flight
  }

  /** Returns a running execution whose result is still valid for new requests. */
  #flightTo(key: string, tags: readonly string[]): Flight | undefined {
    const flight = this.#flights.get(key)
    return flight && this.#cache.entries.isUntouched(flight.version, tags) ? flight : undefined
  }

  async #awaitFlight(state: OperationState, flight: Flight): Promise<Answer> {
    const cache = this.#cache
    const key = state.key?.key ?? ''
    const outcome = await flight.outcome(endingOf(state.request))
    switch (outcome.kind) {
      case 'abandoned':
        return this.#decide(state, await cache.entries.lookup(key), false)
      case 'unshareable':
        cache.emit({ type: 'miss', key })
        return undefined
      case 'shared':
        delete state.ticket
        state.report.outcome = 'COALESCED'
        cache.emit({ type: 'coalesced', key })
        return resultOfEntry(state, outcome.entry)
    }
  }
}

/** Returns the result for an entry. A deferred query receives the complete object, which is split later. */
function resultOfEntry(state: OperationState, entry: CacheEntry): ExecutionResult {
  state.report.entry = entry
  if (state.profile?.incremental) return JSON.parse(entry.body.toString()) as ExecutionResult
  if (state.isUnobserved) return new StoredResult(entry.body, markUntouched(state))
  return new LazyResult(entry.body, undefined, markUntouched(state))
}

/** Only `GET` responses have an ETag, which is valid for exactly the stored bytes. */
export function markUntouched({ request, report }: OperationState): (() => void) | undefined {
  return request.method === 'GET' ? () => void (report.isUntouched = true) : undefined
}
