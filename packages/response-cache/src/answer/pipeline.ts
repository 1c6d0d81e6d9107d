import { systemClock } from '@vinyasa/base'
import type { ExecutionResult } from 'graphql'
import { createProfileCache, type DocumentProfile } from '../document/document-profile.ts'
import { createEntry, offHeap, type CacheEntry } from '../store/entry.ts'
import { boundedLifetime } from '../store/freshness.ts'
import { unknownAsker } from '../errors.ts'
import type { OperationReport } from '../http/cache-headers.ts'
import type { ExecutionInput, OperationState } from './operation-state.ts'
import { createIncrementalMerge } from './incremental.ts'
import { hasOwnHead } from './own-head.ts'
import { isAsyncIterable, isPromise, type MaybePromise } from '@vinyasa/base'
import { createRequestKeyFactory, mayBePersonal } from '../document/request-key.ts'
import type { CacheEngine, Lookup, Ticket } from '../response-cache.ts'
import { createSerializedResult, createStoredResult, serializeData } from './serialized-result.ts'
import { createFlights, type Flight } from './single-flight.ts'

/** A lookup that found something to answer with. */
export type Hit = Extract<Lookup, { entry: unknown }>

type Answer = ExecutionResult | undefined

/** The way of one query through the cache. Knows no hooks: `plugin.ts` calls it from them. */
export interface Pipeline {
  /** Looks for a hit that memory has, without counting it. `profile`: the document's. */
  findEarly(state: OperationState, profile: DocumentProfile | undefined): Hit | undefined
  /** Answers with what `findEarly` found. */
  answer(state: OperationState, hit: Hit): ExecutionResult
  /** The answer in place of execution, or undefined: execute. */
  beforeExecute(state: OperationState, input: ExecutionInput): MaybePromise<Answer>
  /** Takes the final result, stores and shares it, and returns what to send. */
  afterExecute(state: OperationState, result: unknown): unknown
  /** The operation failed: whoever waits for it must not wait longer. */
  failed(state: OperationState): void
  profileOf(input: ExecutionInput): DocumentProfile | undefined
}

/** Only a GET is given a validator, which holds for the very bytes that are stored. */
function markUntouched({ method }: Request, report: OperationReport): (() => void) | undefined {
  return method === 'GET' ? () => void (report.isUntouched = true) : undefined
}

export function createPipeline(cache: CacheEngine): Pipeline {
  const {
    defaultTtlMs = 60_000,
    staleWhileRevalidateMs = 0,
    idFields = ['id'],
    ignoredTypes = [],
    ttlMsBySchemaCoordinate,
    varyHeaders = ['Authorization'],
    access,
    prefix,
    session,
    enabled,
    clock = systemClock,
  } = cache.options
  const profiles = createProfileCache({ idFields, ttlMsBySchemaCoordinate, varyHeaders, access })
  const keyOf = createRequestKeyFactory({ prefix, hasSession: session !== undefined })
  const warned = new Set<string>()
  const flights = createFlights()

  const ttlOf = (profile: DocumentProfile) => profile.ttlMs ?? defaultTtlMs

  function isCacheable(profile: DocumentProfile): boolean {
    if (profile.operation !== 'query' || profile.introspection || ttlOf(profile) <= 0) return false
    return !ignoredTypes.some((type) => profile.mentioned.has(type))
  }

  function warnOnce({ asker: { unknown } }: DocumentProfile): void {
    if (unknown === undefined || session || warned.has(unknown)) return
    warned.add(unknown)
    cache.emit({ type: 'warning', warning: unknownAsker(unknown) })
  }

  function answer(state: OperationState, found: Hit): ExecutionResult {
    state.report.outcome = found.state === 'fresh' ? 'HIT' : 'STALE'
    cache.emit({ type: found.state === 'fresh' ? 'hit' : 'stale', key: state.key?.key ?? '' })
    if (found.state === 'stale') startRefresh(state, found.ticket)
    return resultOf(state, found.entry)
  }

  /** A deferred query is given the whole object: whoever delivers it in parts splits it again. */
  function resultOf(state: OperationState, entry: CacheEntry): ExecutionResult {
    const { profile, report, request, isUnobserved } = state
    report.entry = entry
    if (profile?.incremental) return JSON.parse(entry.body.toString()) as ExecutionResult
    if (isUnobserved) return createStoredResult(entry.body, markUntouched(request, report))
    return createSerializedResult(entry.body, undefined, markUntouched(request, report))
  }

  function startRefresh(state: OperationState, { version }: Ticket) {
    const key = state.key?.key
    const tags = state.profile?.tags
    if (key === undefined || !state.refresh || !tags) return
    if (flights.find(key, (since) => cache.isUntouched(since, tags))) return
    // Claims the key until the refresh is over, so that a burst starts one.
    const claim = flights.lead(key, version)
    void state.refresh().then(() => claim.settle({ kind: 'abandoned' }))
  }

  function prepare(state: OperationState, profile: DocumentProfile, input?: ExecutionInput): boolean {
    // An early look has made the key already; nothing but a session could change it.
    if (state.profile === profile && state.key && !session) return true
    state.profile = profile
    const { report, params, request } = state
    const { operationName, variables } = params
    const { headers } = request
    const identity = {
      operationName,
      variables,
      headers,
      session: input && session?.(input.context),
      access: profile.access?.keyOf(state.context),
    }
    const key = isCacheable(profile) ? keyOf(profile, identity, state.sameBytes) : undefined
    report.varyNames = profile.access ? [...profile.varyNames, ...profile.access.headers] : profile.varyNames
    if (key && (key.isPersonal || !profile.isPrivate)) {
      state.key = key
      report.isPersonal = key.isPersonal || profile.asker.isPersonal === true
      return true
    }
    report.isPersonal = mayBePersonal(profile, identity)
    warnOnce(profile)
    return false
  }

  function take(state: OperationState, body: string | Buffer, data: () => unknown): void {
    const { profile, key, ticket } = state
    if (!profile || !key || !ticket) return
    const entry = createEntry(body, {
      storedAt: clock.now(),
      ...boundedLifetime({ ttlMs: ttlOf(profile), staleMs: staleWhileRevalidateMs }),
      tags: cache.byEntity ? profile.entities.tagsOf(data(), state.params.variables) : profile.tags,
      version: ticket.version,
    })
    state.report.entry = entry
    // The answer does not wait for a shared store.
    const stored = cache
      .store(key.key, entry, ticket)
      ?.catch((error: unknown) => cache.emit({ type: 'error', error }))
    state.flight?.settle({ kind: 'shared', entry }, stored)
  }

  async function* merging(state: OperationState, parts: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const merge = createIncrementalMerge()
    for await (const part of parts) {
      merge.add(part)
      // Before the last part goes out: whoever writes it has no reason to ask for another.
      const data = merge.result()
      if (data && !isForOne(state)) take(state, offHeap(JSON.stringify({ data })), () => data)
      yield part
    }
  }

  function takeWhole(state: OperationState, result: ExecutionResult): ExecutionResult {
    const isKept = !result.errors?.length && !hasOwnHead(result)
    const serialized = isKept ? serializeData(result) : undefined
    if (!serialized) {
      failed(state)
      return result
    }
    const body = offHeap(serialized)
    const isSerialized = typeof (result as { stringify?: unknown }).stringify === 'function'
    const known = isSerialized ? undefined : result.data
    take(state, body, () => known ?? (JSON.parse(body.toString()) as { data: unknown }).data)
    if (result.extensions) return result
    return createSerializedResult(body, known, markUntouched(state.request, state.report))
  }

  /** Something was read of the request that is not in the key; in parts, what comes later may yet read it. */
  function isForOne({ context, report }: OperationState): boolean {
    if (context['unshareable'] !== true) return false
    report.isPersonal = true
    return true
  }

  function failed({ flight, request }: OperationState): void {
    flight?.settle({ kind: request.signal?.aborted ? 'abandoned' : 'unshareable' })
  }

  /** Undefined: this operation is to execute; otherwise the flight whose outcome to wait for. */
  function embark(state: OperationState, found: Lookup, isLive: boolean): Flight | undefined {
    const { profile, key } = state
    if (found.state === 'unavailable' || !profile || !key) return undefined
    state.ticket = found.ticket
    state.report.outcome = isLive ? 'BYPASS' : 'MISS'
    // A live re-execution must see the backend; a deferred answer begins before it is whole.
    if (isLive || profile.incremental) return undefined
    const flight = state.isRefresh
      ? undefined
      : flights.find(key.key, (version) => cache.isUntouched(version, profile.tags))
    if (!flight) state.flight = flights.lead(key.key, found.ticket.version)
    return flight
  }

  /** The answer, or undefined: execute. */
  function decide(state: OperationState, found: Lookup, isLive: boolean): MaybePromise<Answer> {
    if ('entry' in found && !isLive && !state.isRefresh) return answer(state, found)
    const flight = embark(state, found, isLive)
    if (flight) return follow(state, flight)
    const { outcome } = state.report
    cache.emit(outcome === 'MISS' ? { type: 'miss', key: state.key?.key ?? '' } : { type: 'bypass' })
    return undefined
  }

  async function follow(state: OperationState, flight: Flight): Promise<Answer> {
    const key = state.key?.key ?? ''
    const outcome = await flight.outcome(state.request.signal)
    switch (outcome.kind) {
      case 'abandoned':
        return decide(state, await cache.lookup(key), false)
      case 'unshareable':
        cache.emit({ type: 'miss', key })
        return undefined
      case 'shared':
        delete state.ticket
        state.report.outcome = 'COALESCED'
        cache.emit({ type: 'coalesced', key })
        return resultOf(state, outcome.entry)
    }
  }

  return {
    profileOf: ({ schema, document, operationName }) => profiles.of(schema, document, operationName),
    answer,
    failed,

    findEarly(state, profile) {
      if (!profile || profile.incremental || profile.live || !prepare(state, profile)) return undefined
      const found = state.key && cache.peek(state.key.key)
      if (!found || !('entry' in found)) return undefined
      // A refresh is stored under the shared store's version, which memory does not know.
      return found.state === 'stale' && cache.isShared ? undefined : found
    },

    beforeExecute(state, input) {
      const profile = profiles.of(input.schema, input.document, input.operationName)
      if (!profile || enabled?.(input.context) === false || !prepare(state, profile, input)) {
        cache.emit({ type: 'bypass' })
        return undefined
      }
      const isLive = profile.live || input.context['liveQuery'] !== undefined
      const found = cache.lookup(state.key?.key ?? '')
      if (isPromise(found)) return found.then((read) => decide(state, read, isLive))
      return decide(state, found, isLive)
    },

    afterExecute(state, result) {
      if (!state.ticket) return result
      if (isForOne(state)) {
        failed(state)
        return result
      }
      if (isAsyncIterable(result)) {
        state.flight?.settle({ kind: 'unshareable' })
        // Other streams have no end to wait for: their parts are results of their own, as those of a live query are.
        return state.profile?.incremental ? merging(state, result) : result
      }
      return takeWhole(state, result as ExecutionResult)
    },
  }
}
