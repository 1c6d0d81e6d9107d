import { isPromise } from '@vinyasa/base'
import type { OperationState } from './operation-state.ts'
import type { Pipeline } from './pipeline.ts'

/** Executes an operation, and takes what comes of it. */
export function runThrough(pipeline: Pipeline, state: OperationState, execute: () => unknown): unknown {
  const fail = (error: unknown): never => {
    pipeline.failed(state)
    throw error
  }
  try {
    const result = execute()
    if (!isPromise(result)) return pipeline.afterExecute(state, result)
    return Promise.resolve(result)
      .then((value) => pipeline.afterExecute(state, value))
      .catch(fail)
  } catch (error) {
    return fail(error)
  }
}
