import { isPromise } from '@vinyasa/base'
import type { OperationState } from './operation-state.ts'
import type { ResultKeeper } from './result-keeper.ts'

/** Executes an operation, and keeps what comes of it. */
export function runThrough(keeper: ResultKeeper, state: OperationState, execute: () => unknown): unknown {
  const fail = (error: unknown): never => {
    keeper.failed(state)
    throw error
  }
  try {
    const result = execute()
    if (!isPromise(result)) return keeper.keep(state, result)
    return Promise.resolve(result)
      .then((value) => keeper.keep(state, value))
      .catch(fail)
  } catch (error) {
    return fail(error)
  }
}
