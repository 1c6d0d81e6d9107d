import { exceededLimit } from '@vinyasa/source-kit'
import { GraphQLError } from 'graphql'
import { DOCUMENT_LIMIT_EXCEEDED } from './errors.ts'

/** Limits of JSON that a client sends. 0 turns one off. */
export interface JsonLimits {
  /** Objects and lists inside one another. */
  readonly maxBodyDepth: number
  /** Members of objects and items of lists, all together; an empty one counts as one. */
  readonly maxBodyItems: number
}

/** Throws for JSON text that exceeds a limit, before it is parsed. */
export function limitJson(bytes: Uint8Array, { maxBodyDepth, maxBodyItems }: JsonLimits): void {
  const [maxDepth, maxItems] = [maxBodyDepth || Infinity, maxBodyItems || Infinity]
  const exceeded = exceededLimit(bytes, { maxDepth, maxItems })
  if (exceeded === 'maxDepth') throw jsonLimitExceeded('levels of depth', maxDepth)
  if (exceeded === 'maxItems') throw jsonLimitExceeded('items', maxItems)
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
