import { after, attempt, createAttachment, isNotFromHttp, type MaybePromise } from '@vinyasa/base'
import type { Behaviour, Execute, Operation, PreparedDocument } from '@vinyasa/pipeline'
import type { DocumentProfile } from '../document/document-profile.ts'
import type { OperationReport } from '../http/cache-headers.ts'
import type { CacheEngine } from '../response-cache.ts'
import { Admission } from './admission.ts'
import { Lifetimes } from './lifetimes.ts'
import { createMutationEviction } from './mutation-eviction.ts'
import type { OperationState } from './operation-state.ts'
import { createRefresher } from './refresh.ts'
import { ResultKeeper } from './result-keeper.ts'
import { StoredAnswers } from './stored-answers.ts'

export interface CacheBehaviour extends Required<Pick<Behaviour, 'execute' | 'deliver'>> {
  /** Cancels the refreshes under way. */
  close(): void
}

/**
 * Leads operations through the cache. `reportOf` gives the report that the head of the answer tells; `onExecute` is called before
 * anything else sees the request of an operation that memory does not answer.
 */
export function createCacheBehaviour(
  cache: CacheEngine,
  reportOf: (context: object, request: Request) => OperationReport,
  onExecute: (context: object, request: Request) => void,
): CacheBehaviour {
  const { session, enabled, staleWhileRevalidateMs = 0 } = cache.options
  const lifetimes = new Lifetimes(cache.options)
  const admission = new Admission(cache, lifetimes)
  const answers = new StoredAnswers(cache, admission)
  const keeper = new ResultKeeper(cache, lifetimes, admission)
  const mutations = createMutationEviction(cache, admission)
  const refresher = createRefresher(cache.emit)
  const profiles = createAttachment<DocumentProfile>()
  /** Whether a hit need not wait for the finished context: nothing that looks at it decides. */
  const answersEarly = !session && !enabled

  function profileOf(prepared: PreparedDocument): DocumentProfile | undefined {
    const known = profiles.get(prepared)
    if (known) return known
    const profile = admission.profileOf(prepared)
    if (profile) profiles.set(prepared, profile)
    return profile
  }

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

  /** Behind a stale answer, under a request and a context of its own. */
  function refresh(operation: Operation, next: Execute): Promise<void> {
    return refresher.start(operation, ({ request, context }) => {
      const { params } = operation
      const report: OperationReport = { outcome: 'BYPASS', isPersonal: false }
      const state: OperationState = { request, params, context, report, isRefresh: true, refresh: undefined }
      return run(state, { ...operation, request, context }, next)
    })
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
        refresh: staleWhileRevalidateMs > 0 ? () => refresh(operation, next) : undefined,
      }
      const hit = answersEarly ? answers.findEarly(state, profileOf(prepared)) : undefined
      return hit ? answers.answer(state, hit) : run(state, operation, next)
    },
    deliver: (operation, result) => mutations.deliver(operation, result),
    close: () => refresher.close(),
  }
}
