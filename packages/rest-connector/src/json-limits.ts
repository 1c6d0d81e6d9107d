import { BadResponse } from './http/failures.ts'

/** Deeper JSON is hostile, and whatever walks its value would run out of stack. */
const MAX_DEPTH = 200
/** A body so small can be neither deep nor long enough to matter. */
const HARMLESS_BYTES = 4_096

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Counts, before it is parsed, how deep JSON is nested and how many members its lists and objects have: one of two bytes
 * costs as much as one of a hundred.
 * @throws BadResponse above 200 levels or `maxItems` members; not for what is no JSON, which the parser says better
 */
export function checkJson(bytes: Uint8Array, maxItems: number): void {
  const { length } = bytes
  if (length <= HARMLESS_BYTES) return
  let depth = 0
  let items = 0
  for (let index = 0; index < length; index++) {
    switch (bytes[index]) {
      case QUOTE:
        index = endOfText(bytes, index)
        break
      case COMMA:
        items++
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        items++
        if (++depth > MAX_DEPTH)
          throw new BadResponse(`the body is nested deeper than the ${MAX_DEPTH} levels that are taken`)
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--
    }
  }
  if (items > maxItems)
    throw new BadResponse(
      `the body has more items than the ${maxItems} that maxResponseItems allows; ask for fewer, or raise it`,
    )
}

/** The place of the quote that ends a text. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
