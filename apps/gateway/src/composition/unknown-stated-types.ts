import { statedChanges, statedDependsOn } from '@vinyasa/invalidation'
import type { GraphQLSchema } from 'graphql'
import { areUnknown, suggestFor } from '../coordinates.ts'

/** Returns a line for each type that a source's statements name and the schema does not have: nothing is known by it. */
export function unknownStatedTypes(schema: GraphQLSchema): readonly string[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const stated = { changes: statedChanges(field) ?? [], dependsOn: statedDependsOn(field) ?? [] }
      return Object.entries(stated)
        .filter(([, names]) => areUnknown(schema, names))
        .map(([setting, names]) => lineFor(schema, `${root?.name ?? ''}.${field.name}`, setting, names))
    }),
  )
}

function lineFor(schema: GraphQLSchema, field: string, setting: string, names: readonly string[]): string {
  const [first = ''] = names
  const listed = [...new Set(names)].map((name) => `"${name}"`).join(', ')
  return `${field}: ${setting} lists ${listed}, but the schema has no such type${suggestFor(schema, first)}`
}
