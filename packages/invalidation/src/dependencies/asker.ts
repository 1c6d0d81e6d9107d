import { isObjectType, type DocumentNode, type GraphQLField, type GraphQLSchema } from 'graphql'
import { selectOperation } from './selected-fields.ts'

/** Who an answer is for: what of a request, besides the operation, can change it. */
export interface Asker {
  /** Lower-case names of the request headers whose value can change the answer, sorted. */
  readonly headers: readonly string[]
  /** Why the headers cannot be told, in words for a person that name source and option. */
  readonly unknown?: string | undefined
}

/** Headers that follow a request about, and that no answer depends on. */
const tracingHeaders: ReadonlySet<string> = new Set([
  'traceparent',
  'tracestate',
  'baggage',
  'x-request-id',
  'x-correlation-id',
])

/** What a source writes as `extensions.asker`; undefined where the answer is the same for everybody. */
export function toAsker(headers: Iterable<string>, unknown?: string): Asker | undefined {
  const names = new Set([...headers].map((name) => name.toLowerCase()))
  const read = [...names].filter((name) => !tracingHeaders.has(name)).sort()
  if (read.length === 0 && unknown === undefined) return undefined
  return { headers: read, ...(unknown === undefined ? {} : { unknown }) }
}

/** Who the answers of a whole schema are for: all of its fields together. */
export function describeAsker(schema: GraphQLSchema): Asker {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  return together(types.flatMap((type) => Object.values(type.getFields())))
}

/** Who the answer of one operation is for. Without that operation: as `describeAsker`. */
export function describeOperationAsker(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): Asker {
  const operation = selectOperation(schema, document, operationName)
  if (!operation) return describeAsker(schema)
  return together(operation.fields.flatMap(({ definitions }) => definitions.map(({ field }) => field)))
}

function together(fields: readonly GraphQLField<unknown, unknown>[]): Asker {
  const headers = new Set<string>()
  const reasons = new Set<string>()
  for (const { name, extensions } of fields) {
    const asker: unknown = extensions['asker']
    if (asker === undefined) continue
    if (!isAsker(asker)) {
      reasons.add(`extensions.asker of the field "${name}" is not { headers: string[], unknown?: string }`)
      continue
    }
    for (const header of asker.headers) headers.add(header.toLowerCase())
    if (asker.unknown !== undefined) reasons.add(asker.unknown)
  }
  const unknown = [...reasons].sort().join('; ')
  return { headers: [...headers].sort(), ...(reasons.size > 0 ? { unknown } : {}) }
}

function isAsker(value: unknown): value is Asker {
  if (typeof value !== 'object' || value === null) return false
  const { headers, unknown } = value as { readonly headers?: unknown; readonly unknown?: unknown }
  return (
    Array.isArray(headers) &&
    headers.every((name) => typeof name === 'string') &&
    (unknown === undefined || typeof unknown === 'string')
  )
}
