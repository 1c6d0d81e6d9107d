import type { GraphQLField, GraphQLSchema } from 'graphql'

type Field = Pick<GraphQLField<unknown, unknown>, 'extensions'>

/**
 * Returns the type names in `extensions.changes` of a mutation field, its declared changes. `*` stands for any type.
 */
export function statedChanges(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['changes'])
}

/** Returns the type names in `extensions.dependsOn` of a field, its declared dependencies. `*` stands for any type. */
export function statedDependsOn(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['dependsOn'])
}

/** Returns the names in `extensions.idFields` of a schema: the fields that identify entities, in order of preference. */
export function statedIdFields(schema: GraphQLSchema): readonly string[] | undefined {
  return namesIn(schema.extensions['idFields'])
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.filter((name): name is string => typeof name === 'string' && name !== '')
    : undefined
}
