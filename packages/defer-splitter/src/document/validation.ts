import {
  type ASTNode,
  type ASTVisitor,
  type DirectiveNode,
  getNullableType,
  GraphQLError,
  isListType,
  Kind,
  OperationTypeNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql'
import { isIncremental } from './directives.ts'

// The names equal those of graphql 17's rules. If graphql contains them, these rules are not used, so that each error
// is reported once.

/** Labels must be static strings and unique in the document. */
export function DeferStreamDirectiveLabelRule(context: ValidationContext): ASTVisitor {
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
export function DeferStreamDirectiveOnRootFieldRule(context: ValidationContext): ASTVisitor {
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
export function StreamDirectiveOnListFieldRule(context: ValidationContext): ASTVisitor {
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
