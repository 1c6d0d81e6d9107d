import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLSchema,
  GraphQLString,
} from 'graphql'
import { schemaWith } from '@vinyasa/documents'

function createDeferDirective(): GraphQLDirective {
  return new GraphQLDirective({
    name: 'defer',
    description: 'The fields of this fragment may be delivered after the first part of the response.',
    locations: [DirectiveLocation.FRAGMENT_SPREAD, DirectiveLocation.INLINE_FRAGMENT],
    args: {
      if: {
        type: new GraphQLNonNull(GraphQLBoolean),
        defaultValue: true,
        description: 'When false the fields are part of the first part.',
      },
      label: { type: GraphQLString, description: 'A unique static name, repeated in the patch.' },
    },
  })
}

function createStreamDirective(): GraphQLDirective {
  return new GraphQLDirective({
    name: 'stream',
    description: 'The items of this list may be delivered after the first part of the response.',
    locations: [DirectiveLocation.FIELD],
    args: {
      if: { type: new GraphQLNonNull(GraphQLBoolean), defaultValue: true },
      label: { type: GraphQLString },
      initialCount: { type: GraphQLInt, defaultValue: 0 },
    },
  })
}

/** The schema with `@defer` and `@stream` in it, or the same object when it has both. */
export function withIncrementalDirectives(schema: GraphQLSchema): GraphQLSchema {
  const missing = [createDeferDirective(), createStreamDirective()].filter(
    ({ name }) => !schema.getDirective(name),
  )
  if (missing.length === 0) return schema
  return schemaWith(schema, { directives: [...schema.getDirectives(), ...missing] })
}
