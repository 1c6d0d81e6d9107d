import type { GraphQLField } from 'graphql'

type Field = Pick<GraphQLField<unknown, unknown>, 'extensions'>

/**
 * Returns the type names in `extensions.changes` of a mutation field, its declared changes. `*` stands for any type.
 */
export function statedChanges(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['changes'])
}

/**
 * Returns the type names in `extensions.dependsOn` of a field, its declared dependencies. `*` stands for any type.
 */
export function statedDependsOn(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['dependsOn'])
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.filter((name): name is string => typeof name === 'string' && name !== '')
    : undefined
}
