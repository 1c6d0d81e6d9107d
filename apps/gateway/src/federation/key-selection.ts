import {
  getNamedType,
  isObjectType,
  Kind,
  parse,
  type FieldNode,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql'

/** Returns what is wrong with the fields that a key selects of its type; undefined: nothing. */
export function unknownIn(type: GraphQLObjectType, key: string): string | undefined {
  const selection = selectionOf(key)
  return selection
    ? missing(type, selection)
    : 'is not a valid field selection; expected fields such as "id" or "org { id } number"'

  function missing(parent: GraphQLObjectType, { selections }: SelectionSetNode): string | undefined {
    for (const node of selections) {
      if (node.kind !== Kind.FIELD) return 'can select only fields'
      const fields = parent.getFields()
      const field = Object.hasOwn(fields, node.name.value) ? fields[node.name.value] : undefined
      if (!field) return `selects ${parent.name}.${node.name.value}, which is not in the schema`
      const below = getNamedType(field.type)
      const found = node.selectionSet && isObjectType(below) ? missing(below, node.selectionSet) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** The fields of a key's own level. */
export function topLevel(key: string): readonly string[] {
  return (selectionOf(key)?.selections ?? []).map((node) => (node as FieldNode).name.value)
}

/** Whether a key is more than one field. */
export function isComposite(key: string): boolean {
  const [first, ...others] = selectionOf(key)?.selections ?? []
  return others.length > 0 || (first?.kind === Kind.FIELD && first.selectionSet !== undefined)
}

function selectionOf(key: string): SelectionSetNode | undefined {
  try {
    const [definition] = parse(`{ ${key} }`, { noLocation: true }).definitions
    return definition?.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet : undefined
  } catch {
    return undefined
  }
}
