import { createAttachment } from '@vinyasa/base'
import {
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql'

type Fragments = GraphQLResolveInfo['fragments']

/** By the nodes that interpreters collect once for all objects of a list. */
const known = createAttachment<Map<GraphQLObjectType, number>>()

/** Returns how many fields an object that `info` leads to has in the answer at most: what directives skip counts. */
export function fieldsOf(type: GraphQLObjectType, info: GraphQLResolveInfo): number {
  const { fieldNodes, fragments } = info
  let counts = known.get(fieldNodes)
  if (!counts) known.set(fieldNodes, (counts = new Map()))
  let count = counts.get(type)
  if (count === undefined) counts.set(type, (count = countFields(type, fieldNodes, fragments, info)))
  return count
}

function countFields(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  fragments: Fragments,
  { schema }: GraphQLResolveInfo,
): number {
  const keys = new Set<string>()
  const seen = new Set<SelectionSetNode>()

  function isOf(condition: string | undefined): boolean {
    const named = condition === undefined ? undefined : schema.getType(condition)
    return !isObjectType(named) || named.name === type.name
  }

  function collect(set: SelectionSetNode | undefined): void {
    if (!set || seen.has(set)) return
    seen.add(set)
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        keys.add((selection.alias ?? selection.name).value)
        continue
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection
      if (isOf(fragment?.typeCondition?.name.value)) collect(fragment?.selectionSet)
    }
  }

  for (const { selectionSet } of nodes) collect(selectionSet)
  return keys.size
}
