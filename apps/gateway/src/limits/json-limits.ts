import { GraphQLError } from 'graphql'
import { DOCUMENT_LIMIT_EXCEEDED } from './errors.ts'

/** Limits of JSON that a client sends. 0 turns one off. */
export interface JsonLimits {
  /** Objects and lists inside one another. */
  readonly maxBodyDepth: number
  /** Members of objects and items of lists, all together. */
  readonly maxBodyItems: number
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [BRACKET_L, BRACKET_R, BRACE_L, BRACE_R] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Counts brackets and commas of JSON text before it is parsed: whatever recurses over the value is safe then, and a
 * body's cost is in its bytes. One pass without recursion; text that is no JSON may pass, as the parser refuses it.
 */
export function scanJson(bytes: Uint8Array, { maxBodyDepth, maxBodyItems }: JsonLimits): void {
  const [deepest, most] = [maxBodyDepth || Number.POSITIVE_INFINITY, maxBodyItems || Number.POSITIVE_INFINITY]
  if (bytes.length <= deepest && bytes.length <= most) return
  let depth = 0
  let items = 0
  let isText = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (isText) {
      if (byte === BACKSLASH) index++
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === COMMA) {
      if (++items > most) throw jsonLimitExceeded('items', most)
    } else if (byte === BRACKET_L || byte === BRACE_L) {
      if (++depth > deepest) throw jsonLimitExceeded('levels of depth', deepest)
    } else if (byte === BRACKET_R || byte === BRACE_R) depth--
  }
}

/** Throws for a value that is deeper, however it was sent. */
export function limitDepth(value: unknown, maxDepth: number): void {
  if (maxDepth === 0) return
  let level: object[] = isObject(value) ? [value] : []
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw jsonLimitExceeded('levels of depth', maxDepth)
    level = level.flatMap((parent) => Object.values(parent).filter(isObject))
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function jsonLimitExceeded(what: string, limit: number): GraphQLError {
  return new GraphQLError(`The request's JSON has more than ${limit} ${what}; send less at once.`, {
    extensions: { code: DOCUMENT_LIMIT_EXCEEDED, http: { status: 400 } },
  })
}
