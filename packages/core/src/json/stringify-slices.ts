import { isPlainObject } from './values.ts'
import { SLICE_BYTES, type Turns } from '../time/turns.ts'

/** JSON as a string or as UTF-8 bytes. */
export type JsonText = string | Buffer

/** Maximum list items per `JSON.stringify` call. Groups of long items are smaller. */
const SOME = 64
/** Target number of characters per `JSON.stringify` call for list items. */
const PIECE_CHARACTERS = SLICE_BYTES / 4
/** Maximum depth at which lists and objects are split into pieces. */
const MAX_DEPTH = 5

/** Returns the result of `JSON.stringify(value)` in pieces. Returns `undefined` if the result is `undefined`. */
export function stringifySlices(value: unknown, depth: number = 0): Iterable<string> | undefined {
  if (depth < MAX_DEPTH && Array.isArray(value) && (value.length > SOME || value.some(Array.isArray)))
    return list(value, depth)
  const isOpened = depth < MAX_DEPTH && isPlainObject(value) && !('toJSON' in value)
  if (isOpened && Object.values(value).some((member) => typeof member === 'object' && member !== null))
    return members(value, depth)
  const json = JSON.stringify(value) as string | undefined
  return json === undefined ? undefined : [json]
}

function* list(items: readonly unknown[], depth: number): Generator<string> {
  let count = 1
  for (let from = 0; from < items.length;) {
    yield from === 0 ? '[' : ','
    if (Array.isArray(items[from])) {
      yield* stringifySlices(items[from++], depth + 1) ?? []
      continue
    }
    const some = JSON.stringify(items.slice(from, from + count)).slice(1, -1)
    yield some
    from += count
    count = Math.max(1, Math.min(SOME, 2 * count, Math.floor((count * PIECE_CHARACTERS) / some.length)))
  }
  yield ']'
}

function* members(value: object, depth: number): Generator<string> {
  let head = '{'
  for (const [key, member] of Object.entries(value)) {
    const pieces = stringifySlices(member, depth + 1)
    if (!pieces) continue
    yield `${head}${JSON.stringify(key)}:`
    yield* pieces
    head = ','
  }
  yield head === '{' ? '{}' : '}'
}

/**
 * Joins pieces of JSON, with `before` and `after` around them. Long JSON is serialized in several ticks of
 * the event loop and returned as bytes, which stay outside of the JavaScript heap. `hold` receives the length
 * so far and can throw.
 */
export function writeInSlices(
  pieces: Iterable<string>,
  turns: Turns,
  before: string = '',
  after: string = '',
  hold: (characters: number) => void = () => {},
): JsonText | Promise<JsonText> {
  const iterator = pieces[Symbol.iterator]()
  const written: string[] = [before]
  let full = SLICE_BYTES
  let characters = 0

  /** Writes the pieces for one tick of the event loop. Returns true after the last piece. */
  function writeSome(): boolean {
    for (;;) {
      const { done, value } = iterator.next()
      if (done) {
        written.push(after)
        return true
      }
      written.push(value)
      full -= value.length
      characters += value.length
      if (full > 0) continue
      hold(characters)
      return false
    }
  }

  async function rest(): Promise<JsonText> {
    do {
      await turns.next()
      full = SLICE_BYTES
    } while (!writeSome())
    return toBytes(written)
  }

  return writeSome() ? written.join('') : rest()
}

function toBytes(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0))
  let at = 0
  for (const text of texts) at += bytes.write(text, at)
  return bytes
}
