import {
  getNamedType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql'

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
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const counted = new Map<string, number>()

  function ofFragment(name: string): number {
    const known = counted.get(name)
    if (known !== undefined) return known
    counted.set(name, 0)
    const fragment = fragments.get(name)
    const type = fragment && schema.getType(fragment.typeCondition.name.value)
    const count = fragment ? ofSelections(type, fragment.selectionSet) : 0
    counted.set(name, count)
    return count
  }

  function ofSelections(type: GraphQLNamedType | undefined, { selections }: SelectionSetNode): number {
    let count = 0
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) count += ofFragment(selection.name.value)
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition } = selection
        const inner = typeCondition ? schema.getType(typeCondition.name.value) : type
        count += ofSelections(inner, selection.selectionSet)
      } else {
        const name = selection.name.value
        if (type && namesOf(type).some((typeName) => coordinates.has(`${typeName}.${name}`))) count += 1
        const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined
        const given = field && getNamedType(field.type)
        if (selection.selectionSet && isCompositeType(given))
          count += ofSelections(given, selection.selectionSet)
      }
    }
    return Math.min(count, MANY)
  }

  /** A field of an interface is one of each type behind it. */
  function namesOf(type: GraphQLNamedType): readonly string[] {
    return isInterfaceType(type)
      ? [type.name, ...schema.getPossibleTypes(type).map(({ name }) => name)]
      : [type.name, ...(isObjectType(type) ? type.getInterfaces().map(({ name }) => name) : [])]
  }

  return ofSelections(root, operation.selectionSet)
}
