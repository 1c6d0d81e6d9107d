import type { ExecutionResult } from 'graphql'

/** An execution result that brings its own serialiser, as Yoga and others after it use it. */
export interface PlannedResult extends ExecutionResult {
  stringify(result: ExecutionResult): string
}

/** The pieces of a result's JSON, put together. */
export function joinedResult(pieces: readonly (string | Buffer)[]): PlannedResult {
  return createPlannedResult(pieces.join(''))
}

/**
 * A result that is JSON already. It goes out as it is as long as nobody looks at `data`; from then on it is an object
 * like any other, and what became of it is serialised.
 */
function createPlannedResult(json: string): PlannedResult {
  let data: ExecutionResult['data']
  let isObject = false
  return {
    get data() {
      if (!isObject) {
        isObject = true
        data = (JSON.parse(json) as ExecutionResult).data
      }
      return data
    },
    set data(changed) {
      isObject = true
      data = changed
    },
    stringify(result) {
      const isPlain = !isObject && !result.errors && !result.extensions
      return isPlain ? json : JSON.stringify(result)
    },
  }
}
