import { GraphQLSchema, type GraphQLSchemaConfig } from 'graphql'

/**
 * Returns a copy of a schema with changes that do not add fields. The copy has all extensions of the schema,
 * including those with symbol keys. graphql 16 would drop them, and plugins mark wrapped resolvers with
 * symbol keys.
 */
export function schemaWith(schema: GraphQLSchema, changes: Partial<GraphQLSchemaConfig>): GraphQLSchema {
  const changed = new GraphQLSchema({ ...schema.toConfig(), ...changes })
  changed.extensions = { ...schema.extensions, ...changed.extensions }
  return changed
}
