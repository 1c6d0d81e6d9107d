import {
  type ASTNode,
  type ASTVisitor,
  DirectiveLocation,
  type DirectiveNode,
  getNullableType,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLError,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLSchema,
  GraphQLString,
  isListType,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
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

// The names equal those of graphql 17's rules. If graphql contains them, these rules are not used, so that each error
// is reported once.

/** Labels must be static strings and unique in the document. */
function DeferStreamDirectiveLabelRule(context: ValidationContext): ASTVisitor {
  const known = new Map<string, DirectiveNode>()
  return {
    Directive(node) {
      const name = node.name.value
      if (!isIncremental(node)) return
      const label = node.arguments?.find((argument) => argument.name.value === 'label')?.value
      if (!label || label.kind === Kind.NULL) return
      if (label.kind !== Kind.STRING)
        return report(context, `The label of @${name} must be a string literal.`, node)
      const other = known.get(label.value)
      if (other) {
        report(context, `The label "${label.value}" is used twice; labels must be unique.`, [other, node])
      }
      known.set(label.value, node)
    },
  }
}

/** Root fields of mutations and subscriptions have side effects and run in order, so they cannot be deferred. */
function DeferStreamDirectiveOnRootFieldRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      const name = node.name.value
      if (!isIncremental(node)) return
      const parent = context.getParentType()
      for (const operation of [OperationTypeNode.MUTATION, OperationTypeNode.SUBSCRIPTION]) {
        if (!parent || parent !== context.getSchema().getRootType(operation)) continue
        report(
          context,
          `@${name} cannot be used on the root ${operation} type "${parent.name}"; move @${name} into the selection set of a field.`,
          node,
        )
      }
    },
  }
}

/** `@stream` is only valid on lists. */
function StreamDirectiveOnListFieldRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      if (node.name.value !== 'stream') return
      const field = context.getFieldDef()
      const parent = context.getParentType()
      if (!field || !parent || isListType(getNullableType(field.type))) return
      report(
        context,
        `@stream cannot be used on "${parent.name}.${field.name}", because the field is not a list.`,
        node,
      )
    },
  }
}

function report(context: ValidationContext, message: string, nodes: ASTNode | readonly ASTNode[]): void {
  context.reportError(new GraphQLError(message, { nodes }))
}

export const incrementalRules: readonly ValidationRule[] = [
  DeferStreamDirectiveLabelRule,
  DeferStreamDirectiveOnRootFieldRule,
  StreamDirectiveOnListFieldRule,
]
