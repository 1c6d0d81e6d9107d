import {
  after,
  attempt,
  copyJson,
  createAttachment,
  endingOf,
  freshUntilOf,
  isAsyncIterable,
  isLiveRun,
  isNotFromHttp,
  isPromise,
  isRecord,
  keyed,
  type MaybePromise,
  mergePatch,
  openFreshness,
  PassingMap,
} from '@vinyasa/core'
import type { Behaviour, Execute, Operation, PreparedDocument } from '@vinyasa/core/pipeline'
import type { ExecutionResult } from 'graphql'
import type { DocumentProfile } from '../document/document-profile.ts'
import type { OperationReport } from '../http/cache-headers.ts'
import type { CacheEngine } from '../response-cache.ts'
import { Admission, type OperationState } from './admission.ts'
import type { CacheEvent, InvalidationCause } from '../options.ts'
import { readsOf, recordReads, silently } from '../http/request-reads.ts'
import { type CacheEntry, LazyEntry, offHeap } from '../store/entry.ts'
import { hasOwnHead, LazyResult, serializeData, StoredResult } from './serialized-result.ts'
import type { Lookup, Ticket } from '../store/entries.ts'
import { type Flight, type Flights, leadFlight } from './single-flight.ts'

type Patch = Parameters<typeof mergePatch>[1] & { readonly errors?: readonly unknown[] }

interface Part {
  readonly data?: ExecutionResult['data']
  readonly errors?: readonly unknown[]
  readonly extensions?: ExecutionResult['extensions']
  readonly incremental?: readonly Patch[]
  readonly hasNext?: boolean
}

/**
 * Merges the parts of the specification's incremental format into one result. Parts are copied, because they are also
 * sent to the client. Extensions of other plugins are dropped, as for complete results.
 */
export class IncrementalMerge {
  #whole: Record<string, unknown> | undefined
  #isSound = true
  #isComplete = false

  add(part: unknown): void {
    if (isRecord(part)) this.#add(part as Part)
    else this.#isSound = false
  }

  /**
   * Returns the complete data. Returns `undefined` if a part had errors or an unknown format, or if the last part is
   * missing.
   */
  result(): Record<string, unknown> | undefined {
    return this.#isSound && this.#isComplete ? this.#whole : undefined
  }

  #add(part: Part): void {
    if (part.errors?.length || hasOwnHead(part) || 'pending' in part || 'completed' in part)
      this.#isSound = false
    if (part.data) this.#whole = copyJson(part.data) as Record<string, unknown>
    for (const patch of part.incremental ?? [])
      this.#isSound &&= !patch.errors?.length && mergePatch(this.#whole, patch)
    if (part.hasNext === false) this.#isComplete = true
  }
}

/** Stores the results of executed operations, and shares them with waiting requests. */
function createResultKeeper(cache: CacheEngine, admission: Admission) {
  const { clock } = cache.options

  /** Receives the final result and returns the result to send. */
  function keep(state: OperationState, result: unknown): unknown {
    if (!state.ticket) return result
    if (isForOne(state)) {
      failed(state)
      return result
    }
    if (isAsyncIterable(result)) {
      state.flight?.settle({ kind: 'unshareable' })
      // Parts of other streams, e.g. of live queries, are separate results, and such a stream has no end to wait for.
      return state.profile?.incremental ? keepParts(state, result) : result
    }
    return keepWhole(state, result as ExecutionResult)
  }

  /** Releases the requests that wait for the operation, because there is no result to share. */
  function failed({ flight, request }: OperationState): void {
    flight?.settle({ kind: endingOf(request)?.aborted ? 'abandoned' : 'unshareable' })
  }

  function keepWhole(state: OperationState, result: ExecutionResult): ExecutionResult {
    const isKept = !result.errors?.length && !hasOwnHead(result)
    const serialized = isKept ? serializeData(result) : undefined
    if (!serialized) {
      failed(state)
      return result
    }
    const body = offHeap(serialized)
    const isSerialized = typeof (result as { stringify?: unknown }).stringify === 'function'
    const known = isSerialized ? undefined : result.data
    store(state, body, () => known ?? (JSON.parse(body.toString()) as { data: unknown }).data)
    if (result.extensions) return result
    return new LazyResult(body, known, markUntouched(state))
  }

  async function* keepParts(state: OperationState, parts: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const merge = new IncrementalMerge()
    for await (const part of parts) {
      merge.add(part)
      // The result is stored before the last part is sent, because the consumer need not request another part.
      const data = merge.result()
      if (data && !isForOne(state)) store(state, offHeap(JSON.stringify({ data })), () => data)
      yield part
    }
  }

  function store(state: OperationState, body: string | Buffer, data: () => unknown): void {
    const { profile, key, ticket } = state
    if (!profile || !key || !ticket) return
    const storedAt = clock.now()
    const entry = new LazyEntry(body, {
      storedAt,
      ...admission.lifetimeOf(profile, freshUntilOf(state.context) - storedAt),
      tags: cache.byEntity ? profile.entities.tagsOf(data(), state.params.variables) : profile.tags,
      version: ticket.version,
    })
    state.report.entry = entry
    // The response does not wait for a shared store.
    const stored = cache.entries
      .store(key.key, entry, ticket)
      ?.catch((error: unknown) => cache.emit({ type: 'error', error }))
    state.flight?.settle({ kind: 'shared', entry }, stored)
  }

  /**
   * Returns whether the response must not be shared: code read a part of the request that is not in the key, or an
   * upstream forbids it. In a response in parts, later parts can still cause this.
   */
  function isForOne(state: OperationState): boolean {
    const { context } = state
    if (context['unshareable'] !== true && freshUntilOf(context) > clock.now())
      return admission.isReadBeyondKey(state)
    state.report.isPersonal = true
    state.report.reason =
      'context.unshareable is true, or the response of a backend has expired or must not be stored'
    return true
  }

  return { keep, failed }
}

/** Re-executes operations after a stale response. Each refresh has a separate request and context. */
function createRefresher(
  emit: (event: CacheEvent) => void,
  execute: (again: Operation, next: Execute) => unknown,
) {
  const controllers = new Set<AbortController>()

  async function refresh(operation: Operation, context: Operation['context'], next: Execute): Promise<void> {
    const { request } = operation
    const controller = new AbortController()
    controllers.add(controller)
    try {
      // The client's request ends with the stale response, and can be aborted. The client can also choose a `Host` that
      // makes the URL invalid, and the constructor then throws.
      const reads = readsOf(request)
      const own = new Request(request.url, {
        method: request.method === 'GET' ? 'GET' : 'POST',
        headers: silently(request, () => headersOf(request.headers)),
        signal: controller.signal,
      })
      if (reads) recordReads(own, {}, reads)
      const result = await execute(
        { ...operation, request: own, context: { ...context, request: own } },
        next,
      )
      // A response in parts is stored when its last part has been read.
      if (isAsyncIterable(result)) for await (const _part of result) continue
    } catch (error) {
      emit({ type: 'error', error })
    } finally {
      controllers.delete(controller)
    }
  }

  return {
    /** Starts a refresh. The promise never rejects. */
    start(operation: Operation, next: Execute): Promise<void> {
      const context = copyOf(operation.context)
      const pending = refresh(operation, context, next)
      const { waitUntil } = context
      if (typeof waitUntil === 'function') waitUntil.call(context, pending)
      return pending
    },
    /** Cancels the running refreshes. */
    close(): void {
      for (const controller of controllers) controller.abort()
    },
  }
}

/** Returns a copy of the context with its inherited properties. Batched operations inherit the server context. */
function copyOf(context: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  // oxlint-disable-next-line guard-for-in -- inherited members are wanted
  for (const name in context) copy[name] = context[name]
  return copy
}

function headersOf(headers: Headers): [string, string][] {
  const list: [string, string][] = []
  headers.forEach((value, name) => list.push([name, value]))
  return list
}

/**
 * Evicts entries after a mutation and before its response is sent. It also evicts after errors, because a backend can
 * have committed the change.
 */
function createMutationEviction(
  cache: CacheEngine,
  admission: Admission,
): Required<Pick<Behaviour, 'execute' | 'deliver'>> {
  const { invalidateOnMutation = true } = cache.options
  const evicted = createAttachment<true>()

  function profileOf({ prepared }: Operation): DocumentProfile | undefined {
    return invalidateOnMutation ? admission.profileOf(prepared) : undefined
  }

  async function executeAndEvict(
    operation: Operation,
    next: Execute,
    profile: DocumentProfile,
  ): Promise<unknown> {
    let result: unknown
    const changed = await cache.changing()
    try {
      result = await next(operation)
      return result
    } finally {
      evicted.set(operation.context, true)
      if (!operation.progress.isRefused) await evictFor(cache, profile, result)
      changed?.()
    }
  }

  return {
    execute(operation, next) {
      const profile = profileOf(operation)
      return profile ? executeAndEvict(operation, next, profile) : next(operation)
    },
    /**
     * Evicts entries if another plugin executed the mutation. If a plugin only returned a result, it refused the
     * mutation.
     */
    deliver(operation, result) {
      const { prepared, progress, context } = operation
      if (prepared.definition.operation !== 'mutation' || evicted.get(context)) return result
      // A plugin before the cache returned the result, so the mutation was not executed.
      const isAnswered = progress.isFinal || progress.isRefused
      const profile = isAnswered ? undefined : profileOf(operation)
      return profile ? evictFor(cache, profile, result).then(() => result) : result
    },
  }
}

async function evictFor(cache: CacheEngine, profile: DocumentProfile, result: unknown): Promise<void> {
  const { dependence } = profile
  const cause: InvalidationCause = dependence.everything
    ? { source: 'mutation', events: [], types: ['*'], entities: [{ type: '*' }] }
    : {
        source: 'mutation',
        events: [],
        types: [...dependence.types].sort(),
        entities: cache.byEntity ? profile.changedIn((result as ExecutionResult | undefined)?.data) : [],
      }
  await cache.invalidate(cause)
}

interface CacheBehaviour extends Required<Pick<Behaviour, 'execute' | 'deliver'>> {
  /** Cancels the running refreshes. */
  close(): void
}

/**
 * Creates the cache's behaviour. `reportOf` returns the report for the response headers. If memory has no response,
 * `onExecute` is called before other code reads the request.
 */
export function createCacheBehaviour(
  cache: CacheEngine,
  reportOf: (context: object, request: Request) => OperationReport,
  onExecute: (context: object, request: Request) => void,
): CacheBehaviour {
  const { session, enabled, staleWhileRevalidateMs = 0 } = cache.options
  const admission = new Admission(cache)
  const answers = new StoredAnswers(cache, admission)
  const keeper = createResultKeeper(cache, admission)
  const mutations = createMutationEviction(cache, admission)
  const refresher = createRefresher(cache.emit, runAgain)
  const profileOf = keyed(admission.profileOf, createAttachment<DocumentProfile | undefined>())
  /** Whether a hit can be served before the context is complete, because no option reads the context. */
  const answersEarly = !session && !enabled

  function run(state: OperationState, operation: Operation, next: Execute): MaybePromise<unknown> {
    onExecute(state.context, state.request)
    const fail = (error: unknown): never => {
      keeper.failed(state)
      throw error
    }
    const execute = (): MaybePromise<unknown> =>
      attempt(() => after(next(operation), (result) => keeper.keep(state, result)), fail)
    return after(answers.find(state, operation.prepared), (found) => found ?? execute())
  }

  /** Re-executes an operation after a stale response, with a separate request and context. */
  function runAgain(again: Operation, next: Execute): MaybePromise<unknown> {
    const { request, params, context } = again
    const report: OperationReport = { outcome: 'BYPASS', isPersonal: false }
    return run({ request, params, context, report, isRefresh: true, refresh: undefined }, again, next)
  }

  return {
    execute(operation, next) {
      const { prepared, request, params, context, sameBytes, isObserved, isOwnWay } = operation
      if (prepared.definition.operation === 'mutation') return mutations.execute(operation, next)
      if (isNotFromHttp(context) || isOwnWay) return next(operation)
      const state: OperationState = {
        request,
        params,
        context,
        sameBytes: sameBytes?.ask(params) ? sameBytes : undefined,
        isUnobserved: !isObserved,
        report: reportOf(context, request),
        isRefresh: false,
        refresh: staleWhileRevalidateMs > 0 ? () => refresher.start(operation, next) : undefined,
      }
      const hit = answersEarly ? answers.findEarly(state, profileOf(prepared)) : undefined
      return hit ? answers.answer(state, hit) : run(state, operation, next)
    },
    deliver: mutations.deliver,
    close: refresher.close,
  }
}

/** A lookup that found an entry. */
type Hit = Extract<Lookup, { entry: unknown }>

type Answer = ExecutionResult | undefined

/** Answers operations from stored entries, or with the result of another execution. */
class StoredAnswers {
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
function markUntouched({ request, report }: OperationState): (() => void) | undefined {
  return request.method === 'GET' ? () => void (report.isUntouched = true) : undefined
}
