import type { ExecutionResult } from 'graphql'

/** An execution result that brings its own serialiser, as Yoga and others after it use it. */
export interface PlannedResult extends ExecutionResult {
  stringify(result: ExecutionResult): string
}

const NOTHING = Buffer.alloc(0)

/** The pieces of a result's JSON, put together. */
export function joinedResult(pieces: readonly (string | Buffer)[]): PlannedResult {
  const parts = pieces.flatMap((piece) =>
    piece.length === 0 ? [] : [typeof piece === 'string' ? Buffer.from(piece) : piece],
  )
  return createPlannedResult(parts.length === 1 ? (parts[0] ?? NOTHING) : Buffer.concat(parts))
}

/**
 * A result that is JSON already. It goes out as it is as long as nobody looks at `data`; from then on it is an object
 * like any other, and what became of it is serialised. `stringify` gives a Buffer where Yoga's type says string:
 * a `Response` takes it without a copy, and where text is needed it turns into the same text.
 */
function createPlannedResult(json: Buffer): PlannedResult {
  let data: ExecutionResult['data']
  let isObject = false
  return {
    get data() {
      if (!isObject) {
        isObject = true
        data = (JSON.parse(json.toString()) as ExecutionResult).data
      }
      return data
    },
    set data(changed) {
      isObject = true
      data = changed
    },
    stringify(result) {
      const isPlain = !isObject && !result.errors && !result.extensions
      return isPlain ? (json as unknown as string) : JSON.stringify(result)
    },
  }
}
