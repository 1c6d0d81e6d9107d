import { exceededLimit } from '@vinyasa/core'
import { jsonLimitExceeded } from './errors.ts'

/** Objects and lists inside one another: more than anybody writes, and far less than the stack holds. */
const MAX_DEPTH = 100

/** Limits of JSON that a client sends. 0 turns one off. */
export interface JsonLimits {
  /** Members of objects and items of lists, all together; an empty one counts as one. */
  readonly maxBodyItems: number
}

/** Throws for JSON text that exceeds a limit, before it is parsed. */
export function limitJson(bytes: Uint8Array, { maxBodyItems }: JsonLimits): void {
  const maxItems = maxBodyItems || Infinity
  const exceeded = exceededLimit(bytes, { maxDepth: MAX_DEPTH, maxItems })
  if (exceeded === 'maxDepth') throw jsonLimitExceeded('levels of depth', MAX_DEPTH)
  if (exceeded === 'maxItems') throw jsonLimitExceeded('items', maxItems)
}

/** Throws for a value that exceeds a limit, however it was sent. */
export function limitValue(value: unknown, { maxBodyItems }: JsonLimits): void {
  const maxItems = maxBodyItems || Infinity
  let level: object[] = isObject(value) ? [value] : []
  let items = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw jsonLimitExceeded('levels of depth', MAX_DEPTH)
    const next: object[] = []
    for (const parent of level) {
      const members: readonly unknown[] = Array.isArray(parent) ? parent : Object.values(parent)
      items += Math.max(1, members.length)
      if (items > maxItems) throw jsonLimitExceeded('items', maxItems)
      for (const member of members) if (isObject(member)) next.push(member)
    }
    level = next
  }
}

/** Bytes of a file that came with a multipart request are no JSON. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)
}
