import { isRecord } from '@vinyasa/core'
import { isObjectType, type DocumentNode, type GraphQLField, type GraphQLSchema } from 'graphql'
import { selectOperation } from './selected-fields.ts'

/** Declares which parts of a request, apart from the operation, can change a response. */
export interface VariesBy {
  /** Lower-case names of the request headers whose values can change the response, sorted. */
  readonly headers: readonly string[]
  /** Reason that the headers are unknown, for people. It names the source and the option to set. */
  readonly unknown?: string | undefined
  /**
   * Whether code that does not declare its request inputs contributes to the response. Such responses belong to one
   * client. They are not stored or shared unless `session` or `contextKey` identifies the client.
   */
  readonly isPersonal?: boolean | undefined
}

/** Headers for tracing, on which responses do not depend. */
const tracingHeaders: ReadonlySet<string> = new Set([
  'traceparent',
  'tracestate',
  'baggage',
  'x-request-id',
  'x-correlation-id',
])

/** Returns whether a header only serves tracing, so that responses do not vary by it. */
export const isTracingHeader = (name: string): boolean => tracingHeaders.has(name.toLowerCase())

/**
 * Returns the value of `extensions.variesBy` for a source's fields. Tracing headers are removed. Returns `undefined`
 * if the response is the same for all callers.
 */
export function toVariesBy(headers: Iterable<string>, unknown?: string): VariesBy | undefined {
  const names = new Set([...headers].map((name) => name.toLowerCase()))
  const read = [...names].filter((name) => !isTracingHeader(name)).sort()
  if (read.length === 0 && unknown === undefined) return undefined
  return { headers: read, ...(unknown === undefined ? {} : { unknown }) }
}

/** Returns what responses of a schema vary by, from `extensions.variesBy` of the schema and of all its fields. */
export function describeVariesBy(schema: GraphQLSchema): VariesBy {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  return together([schema, ...types.flatMap((type) => Object.values(type.getFields()))])
}

/**
 * Returns what the response to one operation varies by. It describes the complete schema if the document lacks the
 * operation.
 */
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
