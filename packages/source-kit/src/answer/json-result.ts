import type { ExecutionResult } from 'graphql'
import type { JsonText } from '@vinyasa/core'

/**
 * An execution result that is JSON already, with a serialiser of its own, as Yoga and others after it use it. It goes
 * out as it is as long as nobody looks at `data`; from then on it is an object like any other, and what became of it is
 * serialised.
 */
export interface JsonResult extends ExecutionResult {
  /** Gives bytes as they are, though Yoga's type says string: a `Response` takes them without a copy. */
  stringify(result: ExecutionResult): string
}

export function createJsonResult(json: JsonText): JsonResult {
  const state: State = { json, data: undefined, isObject: false }
  const result: Held = {
    [STATE]: state,
    stringify(given) {
      const isPlain = !state.isObject && !given.errors && !given.extensions
      return isPlain ? (json as string) : JSON.stringify(given)
    },
  }
  return Object.defineProperty(result, 'data', DATA)
}

export function isJsonResult(result: object): result is JsonResult {
  return STATE in result
}

interface State {
  readonly json: JsonText
  data: ExecutionResult['data']
  /** Somebody has looked at `data`. */
  isObject: boolean
}

const STATE = Symbol('vinyasa.source-kit.state')
type Held = JsonResult & { readonly [STATE]: State }

/**
 * The same for all results. With a getter of its own each would have a hidden class of its own, which V8 keeps until the
 * next full collection, with the answer that its getter sees.
 */
const DATA: PropertyDescriptor & ThisType<Held> = {
  enumerable: true,
  configurable: true,
  get() {
    const state = this[STATE]
    if (!state.isObject) {
      state.isObject = true
      state.data = (JSON.parse(state.json.toString()) as ExecutionResult).data
    }
    return state.data
  },
  set(changed: ExecutionResult['data']) {
    const state = this[STATE]
    state.isObject = true
    state.data = changed
  },
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
