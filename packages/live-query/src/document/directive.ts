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

/** The schema with `@live` in it; the same one if it has that already. */
export function addLiveDirective(schema: GraphQLSchema): GraphQLSchema {
  if (schema.getDirective('live')) return schema
  return schemaWith(schema, { directives: [...schema.getDirectives(), GraphQLLiveDirective] })
}

/** Whether any operation of the document carries `@live`, whatever its `if`. */
export function hasLiveDirective(document: DocumentNode): boolean {
  return document.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.directives?.some((directive) => directive.name.value === 'live') === true,
  )
}

/** Returns what the operation's `@live` says; `undefined` when it has none or `if` is false. */
export function liveDirectiveValues(
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): { readonly throttleMs: number | undefined } | undefined {
  const directive = operation.directives?.find(({ name }) => name.value === 'live')
  if (!directive) return undefined
  // Not by `getDirectiveValues`, which takes variables of another shape on each version of graphql.
  const known = withDefaults(operation, variables)
  if (directiveArgument(directive, 'if', known) === false) return undefined
  const throttle = directiveArgument(directive, 'throttle', known)
  return { throttleMs: typeof throttle === 'number' ? Math.max(0, throttle) : undefined }
}

const NAMES = new Set(['live', 'defer', 'stream'])

/**
 * The document without `@live`, and without `@defer` and `@stream`, which have no meaning where every update is a
 * complete result. Variables that nothing but these used are not declared any more: it validates as the document did.
 */
export function stripLiveDirective(document: DocumentNode): DocumentNode {
  return withoutDirectives(document, NAMES)
}
