import type { LiveOptions } from '@vinyasa/base'
import type { GraphQLField, GraphQLSchema } from 'graphql'
import type { AnswerSections } from '../answers/answer-types.ts'
import { areUnknown, suggestFor } from '../coordinates.ts'

/**
 * Returns a line for each field of `Query` whose live queries wait for types that the schema does not have, and for none that it
 * has.
 */
export function unknownLiveTypes(
  schema: GraphQLSchema,
  { liveQuery = {} }: AnswerSections,
): readonly string[] {
  if (liveQuery === false) return []
  const { fields = {} } = liveQuery
  return Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) =>
    statedTypes(field, fields[field.name])
      .filter((types) => areUnknown(schema, types))
      .map((types) => lineFor(schema, field.name, types)),
  )
}

/** The types of each list that counts for the field. */
function statedTypes(
  { extensions }: GraphQLField<unknown, unknown>,
  own: LiveOptions | undefined,
): readonly (readonly string[])[] {
  const written = extensions['liveQuery'] as LiveOptions | undefined
  const { triggers = written?.triggers ?? [], dependsOn = written?.dependsOn ?? [] } = own ?? {}
  return [triggers.map((trigger) => trigger.replace(/\..*$/s, '')), dependsOn]
}

function lineFor(schema: GraphQLSchema, field: string, types: readonly string[]): string {
  const names = [...new Set(types)]
  const near = names.length === 1 ? suggestFor(schema, String(names[0])) : ''
  const listed = names.map((name) => `"${name}"`).join(', ')
  const waits = `Query.${field}: live queries of this field wait for events of ${listed}, but the schema has no such ${names.length === 1 ? 'type' : 'types'}`
  return `${waits}${near === '' ? '.' : near} Correct triggers or dependsOn, unless external invalidation events use ${names.length === 1 ? 'this type name' : 'these type names'}.`
}
