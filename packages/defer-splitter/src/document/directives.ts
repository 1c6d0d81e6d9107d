import {
  DirectiveLocation,
  type DirectiveNode,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLSchema,
  GraphQLString,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import {
  directiveArgument,
  foldSelections,
  type Fragments,
  schemaWith,
  type Variables,
} from '@vinyasa/core/documents'

/** Creates the directives `@defer` and `@stream`. */
export function createIncrementalDirectives(): readonly GraphQLDirective[] {
  return [
    new GraphQLDirective({
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
    }),
    new GraphQLDirective({
      name: 'stream',
      description: 'The items of this list may be delivered after the first part of the response.',
      locations: [DirectiveLocation.FIELD],
      args: {
        if: { type: new GraphQLNonNull(GraphQLBoolean), defaultValue: true },
        label: { type: GraphQLString },
        initialCount: { type: GraphQLInt, defaultValue: 0 },
      },
    }),
  ]
}

/** Adds these directives to a schema. Returns the same schema if it contains all of them. */
export function withIncrementalDirectives(
  schema: GraphQLSchema,
  directives: readonly GraphQLDirective[] = createIncrementalDirectives(),
): GraphQLSchema {
  const missing = directives.filter(({ name }) => !schema.getDirective(name))
  if (missing.length === 0) return schema
  return schemaWith(schema, { directives: [...schema.getDirectives(), ...missing] })
}

/** Returns the node's `@defer` if it is active: `if` is missing or not false. */
export function activeDefer(node: SelectionNode, variables: Variables): DirectiveNode | undefined {
  const directive = node.directives?.find(({ name }) => name.value === 'defer')
  return directive && directiveArgument(directive, 'if', variables) !== false ? directive : undefined
}

export const incrementalNames: ReadonlySet<string> = new Set(['defer', 'stream'])

export function isIncremental({ name }: DirectiveNode): boolean {
  return incrementalNames.has(name.value)
}

/** Returns a function that finds `@defer` or `@stream` at a level or below it. */
export function createDeferFinder(fragments: Fragments): (node: SelectionSetNode) => boolean {
  return foldSelections<boolean>(fragments, false, ({ selections }, below) =>
    selections.some((selection) => selection.directives?.some(isIncremental) || below(selection)),
  )
}
