import type { GraphQLSchema } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { VariesBy } from '@vinyasa/invalidation'
import { createVariesBy, type VariesBySections } from '../dependencies/own-code/declare-varies-by.ts'
import { stateDependencies } from '../dependencies/statements.ts'
import { ConfigError } from '../errors.ts'

/** Yoga adds each source's fields to the schema in turn; the last one seen is the whole. */
export function holdSchema(
  config: VariesBySections,
  sources: readonly { readonly variesBy: VariesBy | undefined }[],
): {
  plugin: Plugin
  current(): GraphQLSchema
} {
  const { dependencies = {} } = config
  const declareVariesBy = createVariesBy(
    config,
    sources.map(({ variesBy }) => variesBy),
  )
  let latest: GraphQLSchema | undefined
  return {
    plugin: {
      onSchemaChange: ({ schema }) => {
        latest = schema as GraphQLSchema
        stateDependencies(latest, dependencies)
        declareVariesBy(latest)
      },
    },
    current() {
      const fields = Object.values(latest?.getQueryType()?.getFields() ?? {})
      // Sources without a query have the one field that nobody wrote.
      const isWritten =
        sources.length > 0 || fields.some(({ name, astNode }) => name !== '_sources' || astNode)
      if (!latest || fields.length === 0 || !isWritten) {
        throw new ConfigError('the schema has no query field; add a grpc or rest source, or typeDefs')
      }
      return latest
    },
  }
}
