import {
  getNamedType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import { foldSelections, fragmentOf, fragmentsOf } from '@vinyasa/core/documents'

/** More than any limit: a document may spread fragments in fragments. */
const MANY = 1_000_000

/**
 * How often an operation has one of the fields as it is written, whatever their aliases: those that it skips too, and
 * those of a fragment each time it is spread.
 */
export function countFields(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  coordinates: ReadonlySet<string>,
): number {
  const operation = getOperationAST(document, operationName)
  const root = operation && schema.getRootType(operation.operation)
  if (!operation || !root) return 0
  const fragments = fragmentsOf(document)
  const count = foldSelections<number, GraphQLNamedType | undefined>(fragments, 0, (set, below, type) => {
    let sum = 0
    for (const selection of set.selections) {
      if (selection.kind !== Kind.FIELD) {
        const condition = fragmentOf(fragments, selection)?.typeCondition
        sum += below(selection, condition ? schema.getType(condition.name.value) : type)
        continue
      }
      const name = selection.name.value
      if (type && namesOf(type).some((typeName) => coordinates.has(`${typeName}.${name}`))) sum += 1
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined
      const given = field && getNamedType(field.type)
      if (isCompositeType(given)) sum += below(selection, given)
    }
    return Math.min(sum, MANY)
  })

  /** A field of an interface is one of each type behind it. */
  function namesOf(type: GraphQLNamedType): readonly string[] {
    return isInterfaceType(type)
      ? [type.name, ...schema.getPossibleTypes(type).map(({ name }) => name)]
      : [type.name, ...(isObjectType(type) ? type.getInterfaces().map(({ name }) => name) : [])]
  }

  return count(operation.selectionSet, root)
}
