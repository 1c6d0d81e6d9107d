import type { ExecutionResult } from 'graphql'
import type { CacheEntry } from '../store/entry.ts'
import type { OperationState } from './operation-state.ts'
import { LazyResult, StoredResult } from './serialized-result.ts'

/**
 * The answer that an entry is to an operation. A deferred query is given the whole object: whoever delivers it in parts
 * splits it again.
 */
export function resultOfEntry(state: OperationState, entry: CacheEntry): ExecutionResult {
  state.report.entry = entry
  if (state.profile?.incremental) return JSON.parse(entry.body.toString()) as ExecutionResult
  if (state.isUnobserved) return new StoredResult(entry.body, markUntouched(state))
  return new LazyResult(entry.body, undefined, markUntouched(state))
}

/** Only a GET is given a validator, which holds for the very bytes that are stored. */
export function markUntouched({ request, report }: OperationState): (() => void) | undefined {
  return request.method === 'GET' ? () => void (report.isUntouched = true) : undefined
}
