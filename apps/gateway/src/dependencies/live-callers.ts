import { possibleObjects } from '@vinyasa/documents'
import { getNamedType, type GraphQLField, type GraphQLNamedType, type GraphQLSchema } from 'graphql'
import type { AnswerSections } from '../answers/answer-types.ts'

type Field = GraphQLField<unknown, unknown>

/**
 * Returns a line for each reason why fields of `Query` cannot be live although their settings allow it, with
 * those fields: a source below them cannot say what it reads of the request, and nobody else says who asks.
 */
export function unknownLiveCallers(schema: GraphQLSchema, { liveQuery = {} }: AnswerSections): string[] {
  if (liveQuery === false || liveQuery.contextKey) return []
  const { fields = {}, defaults = {} } = liveQuery
  const met = new Map<string, string[]>()
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const written = (field.extensions['liveQuery'] as { readonly enabled?: boolean } | undefined)?.enabled
    const own = fields[field.name]
    const isEnabled = own ? own.enabled !== false : (written ?? defaults.enabled)
    if (isEnabled !== true) continue
    for (const reason of reasonsBelow(schema, field))
      met.set(reason, [...(met.get(reason) ?? []), field.name])
  }
  return [...met].map(
    ([reason, names]) =>
      `${names.map((name) => `Query.${name}`).join(', ')} cannot be live: ${reason}; set liveQuery.contextKey`,
  )
}

/** Returns the reasons at a field and at all that a query can select below it. */
function reasonsBelow(schema: GraphQLSchema, root: Field): Set<string> {
  const reasons = new Set<string>()
  const seen = new Set<GraphQLNamedType>()
  const open: Field[] = [root]
  const ofAll = schema.extensions['variesBy'] as { readonly unknown?: string } | undefined
  if (ofAll?.unknown !== undefined) reasons.add(ofAll.unknown)
  for (let field = open.pop(); field; field = open.pop()) {
    const unknown = (field.extensions['variesBy'] as { readonly unknown?: string } | undefined)?.unknown
    if (unknown !== undefined) reasons.add(unknown)
    for (const object of possibleObjects(schema, getNamedType(field.type))) {
      if (seen.has(object)) continue
      seen.add(object)
      open.push(...Object.values(object.getFields()))
    }
  }
  return reasons
}
