import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema } from 'graphql'

/** GraphQL requires a query field, and services may have none that reads: then there is `Query._sources`. */
export function ensureQuery(schema: GraphQLSchema, sources: number): GraphQLSchema {
  if (schema.getQueryType()) return schema
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: {
      _sources: {
        type: new GraphQLNonNull(GraphQLInt),
        description:
          'The number of sources of this schema. This field exists because GraphQL requires at least one query field, and the sources define none.',
        resolve: () => sources,
        extensions: { dependsOn: [], origin: 'source-kit' },
      },
    },
  })
  return new GraphQLSchema({ ...schema.toConfig(), query })
}
