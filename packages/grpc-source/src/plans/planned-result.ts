import type { ExecutionResult } from 'graphql'
import type { JsonText } from './share.ts'

/** An execution result that brings its own serialiser, as Yoga and others after it use it. */
export interface PlannedResult extends ExecutionResult {
  stringify(result: ExecutionResult): string
}

/** Text of a plan in the form that its pieces are joined in. */
export function jsonText(text: string): Buffer {
  return Buffer.from(text)
}

export function joinJson(pieces: readonly JsonText[]): Buffer {
  const buffers = pieces.map((piece) => (typeof piece === 'string' ? jsonText(piece) : piece))
  return buffers.length === 1 ? (buffers[0] as Buffer) : Buffer.concat(buffers)
}

/**
 * A result that is JSON already. It goes out as it is as long as nobody looks at `data`; from then on it is an object
 * like any other, and what became of it is serialised. `stringify` gives a Buffer where Yoga's type says string:
 * a `Response` takes it without a copy, and where text is needed it turns into the same text.
 */
export function createPlannedResult(json: Buffer): PlannedResult {
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
