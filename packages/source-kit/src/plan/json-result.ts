import type { ExecutionResult } from 'graphql'
import type { JsonText } from '../json/json-text.ts'

/**
 * An execution result that is JSON already, with a serialiser of its own, as Yoga and others after it use it. It goes
 * out as it is as long as nobody looks at `data`; from then on it is an object like any other, and what became of it is
 * serialised.
 */
export interface JsonResult extends ExecutionResult {
  /** Where Yoga's type says string, bytes are given as they are: a `Response` takes them without a copy. */
  stringify(result: ExecutionResult): string
}

export function createJsonResult(json: JsonText): JsonResult {
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
      return isPlain ? (json as string) : JSON.stringify(result)
    },
  }
}

/** Text that never changes, in both forms that it may be joined in. */
export interface ConstantText {
  readonly text: string
  readonly bytes: Buffer
}

export function constantText(text: string): ConstantText {
  return { text, bytes: Buffer.from(text) }
}

/** The pieces with the texts between them: one more than there are pieces. Bytes as soon as a piece is bytes. */
export function interleave(between: readonly ConstantText[], pieces: readonly JsonText[]): JsonText {
  if (pieces.some((piece) => typeof piece !== 'string')) {
    const buffers: Buffer[] = []
    for (const [index, { bytes }] of between.entries()) {
      buffers.push(bytes)
      const piece = pieces[index]
      if (piece !== undefined) buffers.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
    }
    return Buffer.concat(buffers)
  }
  let json = ''
  for (const [index, { text }] of between.entries()) json += text + (pieces[index]?.toString() ?? '')
  return json
}
