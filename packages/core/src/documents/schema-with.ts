import { GraphQLSchema, type GraphQLSchemaConfig } from 'graphql'

/**
 * Returns a copy of a schema with changes that do not add fields. The extensions of the schema are kept, including
 * those with symbol keys. graphql 16 would drop them, and plugins mark wrapped resolvers with such keys.
 */
export function schemaWith(schema: GraphQLSchema, changes: Partial<GraphQLSchemaConfig>): GraphQLSchema {
  const changed = new GraphQLSchema({ ...schema.toConfig(), ...changes })
  changed.extensions = { ...schema.extensions, ...changed.extensions }
  return changed
}
