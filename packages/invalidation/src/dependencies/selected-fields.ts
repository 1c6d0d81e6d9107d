import {
  getNamedType,
  getOperationAST,
  isAbstractType,
  isCompositeType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'

/** A field that an operation selects, wherever in it. */
export interface SelectedField {
  /** The type it is selected on: an object type, or an interface. */
  readonly parent: GraphQLCompositeType
  /** The field of that type first, then those of the object types that an interface stands for. */
  readonly definitions: readonly FieldOfType[]
}

export interface FieldOfType {
  readonly typeName: string
  readonly field: GraphQLField<unknown, unknown>
}

export interface SelectedOperation {
  readonly kind: `${OperationTypeNode}`
  /** Each field once for each type it is selected on; `__typename` and introspection left out. */
  readonly fields: readonly SelectedField[]
}

/** All that an operation may execute, skipped fields too. Undefined: the document has no such operation. */
export function selectOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): SelectedOperation | undefined {
  const operation = getOperationAST(document, operationName)
  if (!operation) return undefined
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const selected = new Map<string, SelectedField>()
  const followed = new Set<string>()

  function select(parent: GraphQLCompositeType, { selections }: SelectionSetNode): void {
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD: {
          const field = noteField(parent, selection.name.value)
          const type = field && getNamedType(field.type)
          if (selection.selectionSet && isCompositeType(type)) select(type, selection.selectionSet)
          break
        }
        case Kind.INLINE_FRAGMENT: {
          const condition = selection.typeCondition?.name.value
          const type = condition === undefined ? parent : schema.getType(condition)
          if (isCompositeType(type)) select(type, selection.selectionSet)
          break
        }
        case Kind.FRAGMENT_SPREAD: {
          const fragment = fragments.get(selection.name.value)
          const type = fragment && schema.getType(fragment.typeCondition.name.value)
          if (!fragment || !isCompositeType(type) || followed.has(fragment.name.value)) break
          followed.add(fragment.name.value)
          select(type, fragment.selectionSet)
        }
      }
    }
  }

  function noteField(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined {
    if (!('getFields' in parent)) return undefined
    const field = parent.getFields()[name]
    const coordinate = `${parent.name}.${name}`
    if (field && !selected.has(coordinate))
      selected.set(coordinate, {
        parent,
        definitions: [{ typeName: parent.name, field }, ...fieldsBehind(parent, name)],
      })
    return field
  }

  function fieldsBehind(parent: GraphQLCompositeType, name: string): FieldOfType[] {
    if (!isAbstractType(parent)) return []
    return schema.getPossibleTypes(parent).flatMap((type) => {
      const field = type.getFields()[name]
      return field ? [{ typeName: type.name, field }] : []
    })
  }

  const root = schema.getRootType(operation.operation)
  if (root) select(root, operation.selectionSet)
  return { kind: operation.operation, fields: [...selected.values()] }
}

/** The object types that a value of the type can be, by name. */
export function objectTypesOf(schema: GraphQLSchema, typeName: string): readonly string[] {
  const type = schema.getType(typeName)
  if (isObjectType(type)) return [type.name]
  return isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : []
}
