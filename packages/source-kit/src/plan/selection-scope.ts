import type {
  FieldNode,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql'
import { collectFields, type Fragments, isIncluded } from '@vinyasa/documents'

/** The scope of a selection: schema, operation, fragments, and variables that `@skip` and `@include` name. */
export interface SelectionScope {
  readonly schema: GraphQLSchema
  readonly operation: OperationDefinitionNode
  readonly fragments: Fragments
  /** `any`: all that may be selected, whatever the variables are. */
  readonly conditions: Readonly<Record<string, boolean>> | 'any'
}

/** The fields below nodes, by response name, in the order of the answer (GraphQL, section 6.3.2). */
export function fieldsBelow(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Map<string, FieldNode[]> {
  return fieldsOn(
    scope,
    type,
    nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : [])),
  )
}

export function fieldsOn(
  { schema, fragments, conditions }: SelectionScope,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  const includes =
    conditions === 'any' ? undefined : (node: SelectionNode): boolean => isIncluded(node, conditions)
  return collectFields({ schema, fragments, type, includes }, selectionSets)
}
