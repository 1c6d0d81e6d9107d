import { isAsyncIterable, systemClock, type Clock, endingOf, freshUntilOf } from '@vinyasa/base'
import type { ExecutionResult } from 'graphql'
import type { CacheEngine } from '../response-cache.ts'
import { LazyEntry, offHeap } from '../store/entry.ts'
import type { Admission } from './admission.ts'
import { markUntouched } from './entry-result.ts'
import { IncrementalMerge } from './incremental.ts'
import type { Lifetimes } from './lifetimes.ts'
import type { OperationState } from './operation-state.ts'
import { hasOwnHead } from './own-head.ts'
import { LazyResult, serializeData } from './serialized-result.ts'

/** Stores the results of operations that were executed, and shares them with those who wait for them. */
export class ResultKeeper {
  readonly #cache: CacheEngine
  readonly #admission: Admission
  readonly #lifetimes: Lifetimes
  readonly #clock: Pick<Clock, 'now'>

  constructor(cache: CacheEngine, lifetimes: Lifetimes, admission: Admission) {
    const { clock = systemClock } = cache.options
    this.#cache = cache
    this.#admission = admission
    this.#lifetimes = lifetimes
    this.#clock = clock
  }

  /** Takes the final result, and returns what to send. */
  keep(state: OperationState, result: unknown): unknown {
    if (!state.ticket) return result
    if (this.#isForOne(state)) {
      this.failed(state)
      return result
    }
    if (isAsyncIterable(result)) {
      state.flight?.settle({ kind: 'unshareable' })
      // Other streams have no end to wait for: their parts are results of their own, as those of a live query are.
      return state.profile?.incremental ? this.#keepParts(state, result) : result
    }
    return this.#keepWhole(state, result as ExecutionResult)
  }

  /** There is nothing to keep: whoever waits for the operation must not wait longer. */
  failed({ flight, request }: OperationState): void {
    flight?.settle({ kind: endingOf(request)?.aborted ? 'abandoned' : 'unshareable' })
  }

  #keepWhole(state: OperationState, result: ExecutionResult): ExecutionResult {
    const isKept = !result.errors?.length && !hasOwnHead(result)
    const serialized = isKept ? serializeData(result) : undefined
    if (!serialized) {
      this.failed(state)
      return result
    }
    const body = offHeap(serialized)
    const isSerialized = typeof (result as { stringify?: unknown }).stringify === 'function'
    const known = isSerialized ? undefined : result.data
    this.#store(state, body, () => known ?? (JSON.parse(body.toString()) as { data: unknown }).data)
    if (result.extensions) return result
    return new LazyResult(body, known, markUntouched(state))
  }

  async *#keepParts(state: OperationState, parts: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const merge = new IncrementalMerge()
    for await (const part of parts) {
      merge.add(part)
      // Before the last part goes out: whoever writes it has no reason to ask for another.
      const data = merge.result()
      if (data && !this.#isForOne(state)) this.#store(state, offHeap(JSON.stringify({ data })), () => data)
      yield part
    }
  }

  #store(state: OperationState, body: string | Buffer, data: () => unknown): void {
    const cache = this.#cache
    const { profile, key, ticket } = state
    if (!profile || !key || !ticket) return
    const storedAt = this.#clock.now()
    const entry = new LazyEntry(body, {
      storedAt,
      ...this.#lifetimes.of(profile, freshUntilOf(state.context) - storedAt),
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

  /**
   * Something was read of the request that is not in the key, or an upstream lets nobody keep it; in parts, what comes
   * later may yet read it.
   */
  #isForOne(state: OperationState): boolean {
    const { context } = state
    if (context['unshareable'] !== true && freshUntilOf(context) > this.#clock.now())
      return this.#admission.isReadBeyondKey(state)
    state.report.isPersonal = true
    state.report.reason =
      'context.unshareable is true, or the response of a backend has expired or must not be stored'
    return true
  }
}
