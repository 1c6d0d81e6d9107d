import { isRecord } from '@vinyasa/base'
import { FallBack } from '@vinyasa/source-kit'
import type { Read, Write, WritePieces, Writing } from './object-plan.ts'

/** Characters of a list that are written at once. */
const PIECE_LENGTH = 4_096

export function nullOf(isRequired: boolean): string {
  if (isRequired) throw new FallBack('a non-null field or list item is null or missing')
  return 'null'
}

/** One entry of an object in the answer: the brace or the comma with the key, and the value. */
export interface Member {
  readonly head: string
  readonly read: Read
  readonly write: Write
  readonly pieces: WritePieces | undefined
}

export function* listPieces(write: Write, given: unknown, writing: Writing): Generator<string> {
  let text = '['
  for (const [index, item] of arrayOf(given).entries()) {
    text += index === 0 ? write(item, writing) : `,${write(item, writing)}`
    if (text.length < PIECE_LENGTH) continue
    writing.hold(text.length)
    yield text
    text = ''
  }
  yield `${text}]`
}

export function* objectPieces(
  parts: readonly Member[],
  tail: string,
  given: unknown,
  writing: Writing,
): Generator<string> {
  const parent = objectOf(given)
  writing.objects++
  for (const { head, read, write, pieces } of parts) {
    if (pieces) {
      yield head
      yield* pieces(read(parent), writing)
    } else yield head + write(read(parent), writing)
  }
  yield tail
}

function arrayOf(given: unknown): readonly unknown[] {
  if (!Array.isArray(given))
    throw new FallBack('the backend sent a value that is not a list for a field of a list type')
  return given as readonly unknown[]
}

function objectOf(given: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(given)) return given
  throw new FallBack('the backend sent a value that is not an object for a field that returns an object type')
}

export function writeList(write: Write, value: unknown, writing: Writing): string {
  const given = arrayOf(value)
  let json = '['
  for (let index = 0; index < given.length; index++) {
    json += index === 0 ? write(given[index], writing) : `,${write(given[index], writing)}`
    if (json.length > PIECE_LENGTH) writing.hold(json.length)
  }
  return `${json}]`
}

export function objectWriter(parts: readonly Member[], tail: string): Write {
  return (given, writing) => {
    const parent = objectOf(given)
    writing.objects++
    let json = ''
    for (const { head, read, write } of parts) json += head + write(read(parent), writing)
    return json + tail
  }
}
