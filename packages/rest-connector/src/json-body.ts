import { exceededLimit, type JsonLimits, SLICE_BYTES, type Turns } from '@vinyasa/base'
import { parseInSlices } from '@vinyasa/source-kit'
import { parseExactJson } from './json.ts'
import { BadResponse } from './http/failures.ts'

/** Deeper JSON is hostile, and whatever walks its value would run out of stack. */
const MAX_DEPTH = 200
/** A body so small can be neither deep nor long enough to matter. */
const HARMLESS_BYTES = 4_096
/** The byte order mark of UTF-8, which is no JSON, but which some bodies begin with. */
const MARK = Buffer.from('\uFEFF')
/** Limit in bytes of a body that is parsed at once, though it is longer than a slice. */
const LONG_BYTES = 2 * SLICE_BYTES

export interface JsonBodyOptions {
  readonly maxItems: number
  /** The turns of the event loop in which long bodies are parsed. */
  readonly turns: Turns
}

/**
 * The value of JSON in UTF-8; a promise for a long body, which takes several turns of the event loop.
 * @throws BadResponse above 200 levels or `maxItems` members, and where it is no JSON
 */
export function parseJson(body: Buffer, { maxItems, turns }: JsonBodyOptions): unknown {
  const limits = { maxDepth: MAX_DEPTH, maxItems }
  const refuse = (limit: keyof JsonLimits): BadResponse =>
    new BadResponse(
      limit === 'maxDepth'
        ? `the body exceeds the limit of ${MAX_DEPTH} levels of nested objects and lists`
        : `the body exceeds the limit of ${maxItems} items; request fewer items, or raise maxResponseItems`,
    )
  if (body.length > LONG_BYTES) {
    const json = body.subarray(MARK.equals(body.subarray(0, MARK.length)) ? MARK.length : 0)
    return parseInSlices(json, { ...limits, turns, parse: parseExactJson, refuse }).catch(invalid)
  }
  const exceeded = body.length > HARMLESS_BYTES ? exceededLimit(body, limits) : undefined
  if (exceeded) throw refuse(exceeded)
  try {
    const text = body.toString('utf8')
    return parseExactJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    return invalid(cause)
  }
}

function invalid(cause: unknown): never {
  throw cause instanceof BadResponse ? cause : new BadResponse('the body is not valid JSON', { cause })
}
