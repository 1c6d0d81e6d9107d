import type { GraphQLField } from 'graphql'

type Field = Pick<GraphQLField<unknown, unknown>, 'extensions'>

/** `extensions.changes` of a mutation field: the types it changes, as its author states. `*`: any. */
export function statedChanges(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['changes'])
}

/** `extensions.dependsOn` of a field: types it is also computed from, as its author states. `*`: any. */
export function statedDependsOn(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['dependsOn'])
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.filter((name): name is string => typeof name === 'string' && name !== '')
    : undefined
}
