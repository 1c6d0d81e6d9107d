import type {
  FieldNode,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
} from 'graphql'
import { collectFields, type Fragments } from '@vinyasa/core/documents'

/** Schema, operation and fragments of a selection, and a filter for selections. */
export interface SelectionScope {
  readonly schema: GraphQLSchema
  readonly operation: OperationDefinitionNode
  readonly fragments: Fragments
  /**
   * Returns whether to include a selection.
   * @throws NotPlannable if the operation has more selections than a plan supports
   */
  readonly includes: (selection: SelectionNode) => boolean
}

/**
 * Returns the fields below nodes by response name, in the order of the response (GraphQL specification, section
 * 6.3.2).
 */
export function fieldsBelow(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Map<string, FieldNode[]> {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  return collectFields({ ...scope, type }, sets)
}
