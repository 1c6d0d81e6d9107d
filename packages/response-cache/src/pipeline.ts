import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import { createDocumentMemo } from './document-memo.ts'
import { createProfileCache, type DocumentProfile } from './document-profile.ts'
import type { OperationReport } from './http.ts'
import { createIncrementalMerge } from './incremental.ts'
import { createRequestKeyFactory, type RequestKey } from './request-key.ts'
import type { CacheEngine, Lookup, Ticket } from './response-cache.ts'
import { createSerializedResult, serializeData } from './serialized-result.ts'
import { createFlights, type Flight } from './single-flight.ts'
import { anyTag } from './tags.ts'

/** One operation on its way through the server. */
export interface OperationState {
  readonly request: Request
  readonly params: GraphQLParams
  readonly report: OperationReport
  /** Runs the operation again under a context of its own; for background refreshes. */
  readonly refresh: (() => Promise<void>) | undefined
  /** This operation is such a refresh: it stores and is never answered from the cache. */
  readonly isRefresh: boolean
  profile?: DocumentProfile
  key?: RequestKey
  /** Set when the result is to be stored. */
  ticket?: Ticket
  flight?: Flight
}

export interface ExecutionInput {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName: string | null | undefined
  readonly context: Record<string, unknown>
}

/** A lookup that found something to answer with. */
export type Hit = Extract<Lookup, { entry: unknown }>

/** The way of one query through the cache. Knows no hooks: `plugin.ts` calls it from them. */
export interface Pipeline {
  /** Looks for a hit that needs no parsing, without counting it; undefined: take the ordinary way. */
  findEarly(state: OperationState, schema: GraphQLSchema | undefined): Hit | undefined
  /** Answers with what `findEarly` found. */
  answer(state: OperationState, hit: Hit): ExecutionResult
  /** The answer in place of execution, or undefined: execute. */
  beforeExecute(state: OperationState, input: ExecutionInput): Promise<ExecutionResult | undefined>
  /** Takes the final result, stores and shares it, and returns what to send. */
  afterExecute(state: OperationState, result: unknown): unknown
  /** The operation failed: whoever waits for it must not wait longer. */
  failed(state: OperationState): void
  profileOf(input: ExecutionInput): DocumentProfile | undefined
}

export function createPipeline(cache: CacheEngine): Pipeline {
  const {
    defaultTtlMs = 60_000,
    staleWhileRevalidateMs = 0,
    varyHeaders = ['Authorization'],
    idFields = ['id'],
    ignoredTypes = [],
    ttlMsBySchemaCoordinate,
    session,
    enabled,
    clock = Date,
  } = cache.options
  const profiles = createProfileCache({ idFields, ttlMsBySchemaCoordinate })
  const keyOf = createRequestKeyFactory(varyHeaders)
  const documents = createDocumentMemo()
  const flights = createFlights()

  const ttlOf = (profile: DocumentProfile) => profile.ttlMs ?? defaultTtlMs

  function isCacheable(profile: DocumentProfile): boolean {
    if (profile.operation !== 'query' || profile.introspection || ttlOf(profile) <= 0) return false
    return !profile.types.some((type) => ignoredTypes.includes(type))
  }

  function tagsOf(profile: DocumentProfile, data?: () => unknown): string[] {
    const tags = profile.untyped ? [...profile.types, anyTag] : [...profile.types]
    if (cache.byEntity && data) tags.push(...profile.entities.tagsOf(data()))
    return tags
  }

  function answer(state: OperationState, found: Hit): ExecutionResult {
    const { entry } = found
    state.report.outcome = found.state === 'fresh' ? 'HIT' : 'STALE'
    state.report.body = entry.body
    state.report.entry = entry
    state.report.isPersonal = state.key?.isPersonal
    cache.emit({ type: found.state === 'fresh' ? 'hit' : 'stale', key: state.key?.key ?? '' })
    if (found.state === 'stale') startRefresh(state, found.ticket)
    return resultOf(state, entry.body)
  }

  /** A deferred query is given the whole object: whoever delivers it in parts splits it again. */
  function resultOf(state: OperationState, body: Buffer): ExecutionResult {
    if (state.profile?.incremental) return JSON.parse(body.toString()) as ExecutionResult
    return createSerializedResult(body)
  }

  function startRefresh(state: OperationState, { version }: Ticket) {
    const key = state.key?.key
    if (key === undefined || !state.refresh || !state.profile) return
    const tags = tagsOf(state.profile)
    if (flights.find(key, (since) => cache.holds(since, tags))) return
    // Claims the key until the refresh is over, so that a burst starts one.
    const claim = flights.lead(key, version)
    void state.refresh().then(() => claim.settle({ kind: 'abandoned' }))
  }

  function prepare(state: OperationState, profile: DocumentProfile, input?: ExecutionInput): boolean {
    state.profile = profile
    if (!isCacheable(profile)) return false
    const { operationName, variables } = state.params
    const key = keyOf(profile, {
      operationName,
      variables,
      headers: state.request.headers,
      session: input && session?.(input.context),
    })
    if (!key || (profile.isPrivate && !key.isPersonal)) return false
    state.key = key
    return true
  }

  function take(state: OperationState, body: Buffer): void {
    const { profile, key, ticket } = state
    if (!profile || !key || !ticket) return
    const data = () => (JSON.parse(body.toString()) as { data: unknown }).data
    const entry = {
      body,
      storedAt: clock.now(),
      ttlMs: ttlOf(profile),
      staleMs: staleWhileRevalidateMs,
      tags: tagsOf(profile, data),
    }
    state.report.body = body
    state.report.entry = entry
    state.report.isPersonal = key.isPersonal
    state.flight?.settle({ kind: 'shared', body })
    // The answer does not wait for a shared store.
    cache.store(key.key, entry, ticket).catch((error: unknown) => cache.emit({ type: 'error', error }))
  }

  async function* merging(state: OperationState, parts: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const merge = createIncrementalMerge()
    for await (const part of parts) {
      merge.add(part)
      // Before the last part goes out: whoever writes it has no reason to ask for another.
      const data = merge.result()
      if (data) take(state, Buffer.from(JSON.stringify({ data })))
      yield part
    }
  }

  function takeWhole(state: OperationState, result: ExecutionResult): ExecutionResult {
    const body = result.errors?.length ? undefined : serializeData(result)
    if (!body) {
      state.flight?.settle({ kind: state.request.signal?.aborted ? 'abandoned' : 'unshareable' })
      return result
    }
    const known =
      typeof (result as { stringify?: unknown }).stringify === 'function' ? undefined : result.data
    take(state, body)
    return result.extensions ? result : createSerializedResult(body, known)
  }

  return {
    profileOf: ({ schema, document, operationName }) => profiles.of(schema, document, operationName),

    answer,

    findEarly(state, schema) {
      const profile = schema && documents.get(schema, state.params)
      if (!profile || profile.incremental || profile.live || !prepare(state, profile)) return undefined
      const found = state.key && cache.peek(state.key.key)
      if (!found || !('entry' in found)) return undefined
      // A refresh is stored under the shared store's version, which memory does not know.
      return found.state === 'stale' && cache.isShared ? undefined : found
    },

    async beforeExecute(state, input) {
      const profile = profiles.of(input.schema, input.document, input.operationName)
      if (!profile || enabled?.(input.context) === false || !prepare(state, profile, input)) {
        cache.emit({ type: 'bypass' })
        return undefined
      }
      documents.set(input.schema, state.params, profile)
      const key = state.key?.key ?? ''
      const tags = tagsOf(profile)
      const isLive = profile.live || input.context['liveQuery'] !== undefined
      for (;;) {
        const found = await cache.lookup(key)
        if (found.state === 'unavailable') break
        if (found.state !== 'miss' && !isLive && !state.isRefresh) return answer(state, found)
        state.ticket = found.ticket
        state.report.outcome = isLive ? 'BYPASS' : 'MISS'
        // A live re-execution must see the backend; a deferred answer begins before it is whole.
        if (isLive || profile.incremental) break
        const flight = state.isRefresh
          ? undefined
          : flights.find(key, (version) => cache.holds(version, tags))
        if (!flight) {
          state.flight = flights.lead(key, found.ticket.version)
          break
        }
        const outcome = await flight.outcome(state.request.signal)
        if (outcome.kind === 'abandoned') continue
        if (outcome.kind === 'unshareable') break
        delete state.ticket
        state.report.outcome = 'COALESCED'
        state.report.body = outcome.body
        state.report.isPersonal = state.key?.isPersonal
        cache.emit({ type: 'coalesced', key })
        return resultOf(state, outcome.body)
      }
      cache.emit(state.report.outcome === 'MISS' ? { type: 'miss', key } : { type: 'bypass' })
      return undefined
    },

    afterExecute(state, result) {
      if (!state.ticket) return result
      if (isAsyncIterable(result)) {
        state.flight?.settle({ kind: 'unshareable' })
        return merging(state, result)
      }
      return takeWhole(state, result as ExecutionResult)
    },

    failed(state) {
      state.flight?.settle({ kind: state.request.signal?.aborted ? 'abandoned' : 'unshareable' })
    },
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
