import type { JsonSize } from '@vinyasa/source-kit'
import { type Gap, type Span } from '../json/transcoder.ts'

/** The joined values, all of which are loaded. */
export interface GapValues {
  /** @throws FallBack */
  sizeOfGap(gap: Gap): JsonSize
  /** @throws FallBack */
  valueOf(gap: Gap): Buffer
}

/** Measures a part of JSON with the values in its gaps, which need not be written for that. */
export function sizeOf({ start, end, gaps, objects }: Span, values: GapValues): JsonSize {
  const size = { length: end - start, objects }
  for (const gap of gaps) {
    const value = values.sizeOfGap(gap)
    size.length += value.length
    size.objects += value.objects
  }
  return size
}

/** Below it a loop is faster than a call. */
const SHORT = 96

/** Writes a part of JSON with values in its gaps. */
export function fillGaps(json: Buffer, span: Span, given: GapValues): Buffer {
  const { start, end, gaps } = span
  if (gaps.length === 0) return json.subarray(start, end)
  let size = end - start
  const values = gaps.map((gap) => {
    const value = given.valueOf(gap)
    size += value.length
    return value
  })
  const filled = Buffer.allocUnsafe(size)
  let from = start
  let to = 0
  for (const [index, value] of values.entries()) {
    const { at } = gaps[index] as Gap
    to = copy(json, from, at, filled, to)
    to = copy(value, 0, value.length, filled, to)
    from = at
  }
  copy(json, from, end, filled, to)
  return filled
}

function copy(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  const length = end - start
  if (length > SHORT) target.set(source.subarray(start, end), at)
  else for (let index = 0; index < length; index++) target[at + index] = source[start + index] as number
  return at + length
}
