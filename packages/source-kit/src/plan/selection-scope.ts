import type {
  FieldNode,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
} from 'graphql'
import { collectFields, type Fragments } from '@vinyasa/documents'

/** The scope of a selection: schema, operation, fragments, and which of the selections count. */
export interface SelectionScope {
  readonly schema: GraphQLSchema
  readonly operation: OperationDefinitionNode
  readonly fragments: Fragments
  /** Asked for each selection that is looked at. @throws NotPlannable where these are more than a plan may have */
  readonly includes: (selection: SelectionNode) => boolean
}

/** The fields below nodes, by response name, in the order of the answer (GraphQL, section 6.3.2). */
export function fieldsBelow(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Map<string, FieldNode[]> {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  return collectFields({ ...scope, type }, sets)
}
