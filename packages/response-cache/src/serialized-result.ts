import type { ExecutionResult } from 'graphql'

/** An execution result that Yoga writes with its own serialiser. */
export interface SerializedResult extends ExecutionResult {
  stringify(result: ExecutionResult): string
}

/**
 * A result that is already serialised. As long as nobody reads `data`, it goes out as the stored
 * bytes; whoever does read it (a logging or a redacting plugin) gets an object, and what they make of
 * it is serialised anew, so no change is ever lost.
 *
 * `stringify` hands out a Buffer where Yoga's types say string: `new Response(...)` takes it without a
 * copy, and where text is needed (batches, event streams) a Buffer turns into the same text.
 */
export function createSerializedResult(body: Buffer, known?: ExecutionResult['data']): SerializedResult {
  let data: ExecutionResult['data']
  let touched = false
  return {
    get data() {
      if (!touched) {
        touched = true
        data = known ?? (JSON.parse(body.toString()) as { data: ExecutionResult['data'] }).data
      }
      return data
    },
    set data(value) {
      touched = true
      data = value
    },
    stringify(result) {
      const pristine = !touched && !result.errors?.length && !result.extensions
      return pristine ? (body as unknown as string) : JSON.stringify(result)
    },
  }
}

/** Serialises the data of a result, through the result's own serialiser when it has one. */
export function serializeData(result: ExecutionResult & { stringify?: unknown }): Buffer | undefined {
  const { stringify } = result
  if (typeof stringify === 'function' && !result.extensions) {
    const own: unknown = stringify.call(result, result)
    if (Buffer.isBuffer(own)) return isNullData(own.toString('latin1', 0, 13)) ? undefined : own
    if (typeof own === 'string') return isNullData(own) ? undefined : Buffer.from(own)
  }
  if (result.data == null) return undefined
  return Buffer.from(JSON.stringify({ data: result.data }))
}

function isNullData(text: string): boolean {
  return text.startsWith('{"data":null')
}
