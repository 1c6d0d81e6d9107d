import { GraphQLSchema, type GraphQLSchemaConfig } from 'graphql'

/**
 * The schema made anew with something changed that gives it no field. What others have noted in its extensions stays:
 * graphql 16 copies notes with names only, and a plugin that wraps resolvers knows by a symbol what it has wrapped already.
 */
export function schemaWith(schema: GraphQLSchema, changes: Partial<GraphQLSchemaConfig>): GraphQLSchema {
  const changed = new GraphQLSchema({ ...schema.toConfig(), ...changes })
  changed.extensions = { ...schema.extensions, ...changed.extensions }
  return changed
}
