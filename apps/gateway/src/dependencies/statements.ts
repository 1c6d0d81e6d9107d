import type { GraphQLSchema } from 'graphql'
import type { DependencyStatement } from './own-code-types.ts'
import { mistakeAt } from '../errors.ts'
import { fieldAt, suggestFor } from '../coordinates.ts'

type Statements = Readonly<Record<string, DependencyStatement>>

/** Writes the config's `dependencies` onto the fields of a schema. Fields that it does not have yet are passed over. */
export function stateDependencies(schema: GraphQLSchema, statements: Statements): void {
  for (const [coordinate, { changes, dependsOn }] of Object.entries(statements)) {
    const field = fieldAt(schema, coordinate)
    if (!field) continue
    field.extensions = { ...field.extensions, ...(changes && { changes }), ...(dependsOn && { dependsOn }) }
  }
}

/** Throws `ConfigError` for a statement on a field, or about a type, that the whole schema does not have. */
export function checkStatements(schema: GraphQLSchema, statements: Statements): void {
  const mutationName = schema.getMutationType()?.name ?? 'Mutation'
  for (const [coordinate, { changes = [], dependsOn = [] }] of Object.entries(statements)) {
    const path = ['dependencies', coordinate]
    if (!fieldAt(schema, coordinate))
      throw mistakeAt(
        path,
        `the schema has no such field${suggestFor(schema, coordinate) || `; write "Type.field", for example "${mutationName}.reset"`}`,
      )
    for (const [setting, names] of Object.entries({ changes, dependsOn }))
      for (const [index, name] of names.entries()) {
        if (name === '*' || schema.getType(name)) continue
        throw mistakeAt(
          [...path, setting, index],
          `the schema has no type "${name}"${suggestFor(schema, name) || '; "*" means any type'}`,
        )
      }
  }
}
