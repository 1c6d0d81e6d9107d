import type { Transcoder, WriteValue } from './message-plan.ts'

const COMMA = 0x2c

/**
 * Writes items of a list, from the reader's place to `end`, where other fields may lie between them; it stops behind an
 * item that fills `fullBytes` of JSON. Packed items are written together.
 */
export function writeItems(
  transcoder: Transcoder,
  number: number,
  wireType: number,
  end: number,
  write: WriteValue,
  first: boolean,
  fullBytes: number,
): void {
  const { reader, json } = transcoder
  let isFirst = first
  while (reader.pos < end && json.length < fullBytes) {
    const tag = reader.uint32()
    const actual = tag & 7
    if (tag >>> 3 !== number || (actual !== wireType && actual !== 2)) {
      reader.skip(actual, tag >>> 3)
      continue
    }
    if (actual === wireType) {
      reader.item()
      if (!isFirst) json.byte(COMMA)
      isFirst = false
      write(transcoder, end)
      continue
    }
    const outer = reader.enter()
    while (reader.pos < reader.end) {
      reader.item()
      if (!isFirst) json.byte(COMMA)
      isFirst = false
      write(transcoder, end)
    }
    reader.leave(outer)
  }
}
