import { isRecord } from '@vinyasa/base'
import { isObjectType, type DocumentNode, type GraphQLField, type GraphQLSchema } from 'graphql'
import { selectOperation } from './selected-fields.ts'

/** The audience of an answer: all of a request, besides the operation, that can change it. */
export interface VariesBy {
  /** Lower-case names of the request headers whose value can change the answer, sorted. */
  readonly headers: readonly string[]
  /** Why the headers cannot be told, in words for a person that name source and option. */
  readonly unknown?: string | undefined
  /**
   * Code that does not declare what it reads of the request: the response is for its client alone. It is neither stored nor
   * shared, unless `session` or `contextKey` gives the client's identity.
   */
  readonly isPersonal?: boolean | undefined
}

/** Headers that follow a request about, and that no answer depends on. */
const tracingHeaders: ReadonlySet<string> = new Set([
  'traceparent',
  'tracestate',
  'baggage',
  'x-request-id',
  'x-correlation-id',
])

/** Whether a header follows a request about, so that no answer depends on it. */
export const isTracingHeader = (name: string): boolean => tracingHeaders.has(name.toLowerCase())

/** Returns a source's `extensions.variesBy`; undefined where the answer is the same for everybody. */
export function toVariesBy(headers: Iterable<string>, unknown?: string): VariesBy | undefined {
  const names = new Set([...headers].map((name) => name.toLowerCase()))
  const read = [...names].filter((name) => !isTracingHeader(name)).sort()
  if (read.length === 0 && unknown === undefined) return undefined
  return { headers: read, ...(unknown === undefined ? {} : { unknown }) }
}

/** Describes the caller of a whole schema: of all its fields, and of what concerns every operation. */
export function describeVariesBy(schema: GraphQLSchema): VariesBy {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  return together([schema, ...types.flatMap((type) => Object.values(type.getFields()))])
}

/** Describes the caller of one operation. Where the document has no such operation: of the whole schema. */
export function describeOperationVariesBy(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): VariesBy {
  const operation = selectOperation(schema, document, operationName)
  if (!operation) return describeVariesBy(schema)
  const fields = operation.fields.flatMap(({ definitions }) => definitions.map(({ field }) => field))
  return together([schema, ...fields])
}

function together(parts: readonly (GraphQLSchema | GraphQLField<unknown, unknown>)[]): VariesBy {
  const headers = new Set<string>()
  const reasons = new Set<string>()
  let isPersonal = false
  for (const part of parts) {
    const variesBy: unknown = part.extensions['variesBy']
    if (variesBy === undefined) continue
    if (!isVariesBy(variesBy)) {
      const place = 'name' in part ? `the field "${part.name}"` : 'the schema'
      reasons.add(`extensions.variesBy of ${place} is not { headers: string[], unknown?: string }`)
      continue
    }
    for (const header of variesBy.headers) headers.add(header.toLowerCase())
    if (variesBy.unknown !== undefined) reasons.add(variesBy.unknown)
    if (variesBy.isPersonal) isPersonal = true
  }
  const unknown = [...reasons].sort().join('; ')
  return {
    headers: [...headers].sort(),
    ...(reasons.size > 0 ? { unknown } : {}),
    ...(isPersonal ? { isPersonal } : {}),
  }
}

function isVariesBy(value: unknown): value is VariesBy {
  if (!isRecord(value)) return false
  const { headers, unknown } = value
  return (
    Array.isArray(headers) &&
    headers.every((name) => typeof name === 'string') &&
    (unknown === undefined || typeof unknown === 'string')
  )
}
