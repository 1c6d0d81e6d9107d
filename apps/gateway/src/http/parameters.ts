import type { Plugin } from 'graphql-yoga'
import { limitValue, type JsonLimits } from '../limits/json-limits.ts'
import { withShortWay } from '../short-way.ts'
import { requestRefused } from './errors.ts'

/**
 * Looks at what was read of a request, whoever read it: one operation is a JSON object, several are a list of them, and
 * variables and extensions keep to the limits. Comes after all plugins that set parsers.
 */
export function useParameters(limits: JsonLimits): Plugin {
  const plugin: Plugin = {
    onRequestParse({ requestParser, setRequestParser }) {
      if (requestParser) setRequestParser(async (request) => asParameters(await requestParser(request)))
    },
    onParams({ params }) {
      limitValue(params.variables, limits)
      limitValue(params.extensions, limits)
    },
  }
  return withShortWay(plugin, {
    // A body is within the limits already.
    acceptsBody: (body, { variables }) => body !== undefined || isWithin(limits, variables),
  })
}

function isWithin(limits: JsonLimits, value: unknown): boolean {
  try {
    limitValue(value, limits)
    return true
  } catch {
    return false
  }
}

function asParameters<T>(value: T): T {
  const operations: readonly unknown[] = Array.isArray(value) ? value : [value]
  for (const operation of operations)
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation))
      throw requestRefused(400, 'BAD_REQUEST', 'An operation is a JSON object; send {"query": "..."}.')
  // Yoga takes everything with a status and headers for a response, and sends it.
  const { status, headers } = value as Partial<Response>
  if (!status || !headers || typeof headers.get === 'function') return value
  throw requestRefused(400, 'BAD_REQUEST', 'Unexpected parameter "status" in the request body.')
}
