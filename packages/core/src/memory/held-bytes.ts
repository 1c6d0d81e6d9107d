/**
 * Sizes in 64-bit V8, rounded up: an object or list, an object property, a list item, and a string without
 * its characters.
 */
const OBJECT_BYTES = 64
const MEMBER_BYTES = 40
const ITEM_BYTES = 16
const STRING_BYTES = 24

/**
 * Estimates the memory of parsed JSON in bytes. The estimate is between half and four times the real value,
 * and twice on average.
 */
export function heldBytes(value: unknown): number {
  const waiting: unknown[] = [value]
  let bytes = 0
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one === 'string') bytes += STRING_BYTES + 2 * one.length
    else if (ArrayBuffer.isView(one)) bytes += one.byteLength
    else if (Array.isArray(one)) {
      bytes += OBJECT_BYTES + ITEM_BYTES * one.length
      for (const item of one) if (typeof item !== 'number') waiting.push(item)
    } else if (typeof one === 'object' && one !== null) {
      const members = one as Readonly<Record<string, unknown>>
      bytes += OBJECT_BYTES
      for (const name of Object.keys(one)) {
        bytes += MEMBER_BYTES + 2 * name.length
        waiting.push(members[name])
      }
    }
  }
  return bytes
}
