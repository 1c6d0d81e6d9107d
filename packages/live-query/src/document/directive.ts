import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLSchema,
  Kind,
  type DocumentNode,
  type OperationDefinitionNode,
} from 'graphql'
import { directiveArgument, schemaWith, withDefaults, withoutDirectives } from '@vinyasa/core/documents'

/** `directive @live(if: Boolean! = true, throttle: Int) on QUERY` */
export const GraphQLLiveDirective: GraphQLDirective = new GraphQLDirective({
  name: 'live',
  description: 'Sends the complete result again whenever its data changes.',
  locations: [DirectiveLocation.QUERY],
  args: {
    if: {
      type: new GraphQLNonNull(GraphQLBoolean),
      defaultValue: true,
      description: 'If false, the query is not live.',
    },
    throttle: {
      type: GraphQLInt,
      description: 'Minimum milliseconds between two updates; the server can enforce a longer interval.',
    },
  },
})

/** Adds `@live` to a schema. Returns the same schema if it already contains the directive. */
export function addLiveDirective(schema: GraphQLSchema): GraphQLSchema {
  if (schema.getDirective('live')) return schema
  return schemaWith(schema, { directives: [...schema.getDirectives(), GraphQLLiveDirective] })
}

/** Returns whether an operation of the document has `@live`, regardless of its `if` argument. */
export function hasLiveDirective(document: DocumentNode): boolean {
  return document.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.directives?.some((directive) => directive.name.value === 'live') === true,
  )
}

/** Returns the arguments of the operation's `@live`. Returns `undefined` without the directive, or if `if` is false. */
export function liveDirectiveValues(
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): { readonly throttleMs: number | undefined } | undefined {
  const directive = operation.directives?.find(({ name }) => name.value === 'live')
  if (!directive) return undefined
  // `getDirectiveValues` is not used, because the format of its variables depends on the version of graphql.
  const known = withDefaults(operation, variables)
  if (directiveArgument(directive, 'if', known) === false) return undefined
  const throttle = directiveArgument(directive, 'throttle', known)
  return { throttleMs: typeof throttle === 'number' ? Math.max(0, throttle) : undefined }
}

const NAMES = new Set(['live', 'defer', 'stream'])

/**
 * Removes `@live`, and `@defer` and `@stream`, because every update is a complete result. Variables that only these
 * directives use are removed too, so that the document remains valid.
 */
export function stripLiveDirective(document: DocumentNode): DocumentNode {
  return withoutDirectives(document, NAMES)
}
