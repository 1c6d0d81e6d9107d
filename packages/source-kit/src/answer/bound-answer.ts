import { type AnswerSize, measureJson } from '@vinyasa/yoga-internals'
import type { ExecutionResult } from 'graphql'
import { isJsonResult } from './json-result.ts'

/** Returns what an interpreter gave, or what is answered in its place where that is too large. */
export function boundAnswer(size: AnswerSize, executed: unknown): unknown {
  if (typeof executed !== 'object' || executed === null || Symbol.asyncIterator in executed) return executed
  size.done()
  if (!size.refusal && !isJsonResult(executed)) measure(size, executed)
  return size.refusal ? { errors: [size.refusal] } : executed
}

function measure(size: AnswerSize, { data }: ExecutionResult): void {
  try {
    size.add(0, measureJson(data, size.maxBytes))
  } catch {
    // It is in the refusal.
  }
}

/** The same, now or later. */
export function boundLater(size: AnswerSize, executed: unknown): unknown {
  if (!(executed instanceof Promise)) return boundAnswer(size, executed)
  return executed.then(
    (result) => boundAnswer(size, result),
    (error) => {
      size.done()
      throw error
    },
  )
}
