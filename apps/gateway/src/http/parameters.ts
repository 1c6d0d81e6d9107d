import { withBehaviour } from '@vinyasa/core/pipeline'
import { after } from '@vinyasa/core'
import type { Plugin } from 'graphql-yoga'
import { limitValue, type JsonLimits } from '../limits/json-limits.ts'
import { badRequest } from './errors.ts'

/**
 * Looks at what was read of a request, whoever read it: one operation is a JSON object, several are a list of them, and
 * variables and extensions keep to the limits. Comes after all plugins that set parsers.
 */
export function useParameters(limits: JsonLimits): Plugin {
  return withBehaviour(
    {},
    {
      wrapParser: (parse) => (request) => after(parse(request), asParameters),
      changeParams({ variables, extensions }) {
        limitValue(variables, limits)
        limitValue(extensions, limits)
        return undefined
      },
    },
  )
}

/**
 * Refuses parameters of other types than theirs, before anything reads one: hooks of documents, limits and logs take a
 * query for a text. Comes before all plugins with `onParams`. As Yoga does itself behind them, in its words.
 */
export function useParameterTypes(): Plugin {
  return withBehaviour({}, { changeParams: checkTypes })
}

/** A query may be left out where a document has an id. */
const TYPES = [
  ['query', 'a string', 'string'],
  ['operationName', 'empty or a string', 'string'],
  ['variables', 'empty or an object', 'object'],
  ['extensions', 'empty or an object', 'object'],
] as const

function checkTypes(params: object): undefined {
  const given = params as Readonly<Record<string, unknown>>
  for (const [name, expected, type] of TYPES) {
    const value = given[name]
    if (value === undefined || value === null) continue
    const actual = Array.isArray(value) ? 'array' : typeof value
    if (actual !== type) throw badRequest(`Expected "${name}" param to be ${expected}, but given ${actual}.`)
  }
}

function asParameters<T>(value: T): T {
  const operations: readonly unknown[] = Array.isArray(value) ? value : [value]
  for (const operation of operations)
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation))
      throw badRequest('Each operation must be a JSON object; send {"query": "..."}.')
  // Yoga takes everything with a status and headers for a response, and sends it.
  const { status, headers } = value as Partial<Response>
  if (!status || !headers || typeof headers.get === 'function') return value
  throw badRequest('Unexpected parameter "status" in the request body.')
}
