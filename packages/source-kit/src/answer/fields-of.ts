import { createAttachment } from '@vinyasa/base'
import { collectFields } from '@vinyasa/documents'
import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql'

/** By the nodes that interpreters collect once for all objects of a list. */
const known = createAttachment<Map<GraphQLObjectType, number>>()

/** Returns how many fields an object that `info` leads to has in the answer at most: what directives skip counts. */
export function fieldsOf(type: GraphQLObjectType, info: GraphQLResolveInfo): number {
  const { fieldNodes } = info
  let counts = known.get(fieldNodes)
  if (!counts) known.set(fieldNodes, (counts = new Map()))
  let count = counts.get(type)
  if (count === undefined) counts.set(type, (count = countFields(type, info)))
  return count
}

function countFields(type: GraphQLObjectType, { fieldNodes, fragments, schema }: GraphQLResolveInfo): number {
  const sets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  return collectFields({ fragments: new Map(Object.entries(fragments)), type, schema }, sets).size
}
