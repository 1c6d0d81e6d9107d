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
        description: 'If false, the fragment is not deferred.',
      },
      label: {
        type: GraphQLString,
        description:
          'A name, unique in the document, that identifies this fragment in later parts of the response. It cannot be a variable.',
      },
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

/** `@defer` and `@stream`. */
export function createIncrementalDirectives(): readonly GraphQLDirective[] {
  return [createDeferDirective(), createStreamDirective()]
}

/** The schema with these directives in it, or the same object when it has all of them. */
export function withIncrementalDirectives(
  schema: GraphQLSchema,
  directives: readonly GraphQLDirective[] = createIncrementalDirectives(),
): GraphQLSchema {
  const missing = directives.filter(({ name }) => !schema.getDirective(name))
  if (missing.length === 0) return schema
  return schemaWith(schema, { directives: [...schema.getDirectives(), ...missing] })
}
