import {
  type DocumentNode,
  getNamedType,
  getOperationAST,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  type OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { forEachField, fragmentsOf, possibleObjects } from '@vinyasa/core/documents'

/** Describes a field that an operation selects at any depth. */
export interface SelectedField {
  /** Type that the selection set is on: an object type or an interface. */
  readonly parent: GraphQLCompositeType
  /** Definition on `parent` first, then the definitions on the object types of an interface. */
  readonly definitions: readonly FieldOfType[]
}

export interface FieldOfType {
  readonly typeName: string
  readonly field: GraphQLField<unknown, unknown>
}

interface SelectedOperation {
  readonly kind: `${OperationTypeNode}`
  /** Selected fields, once per parent type, without `__typename` and introspection fields. */
  readonly fields: readonly SelectedField[]
}

/**
 * Returns the fields that an operation can execute, including fields that a directive skips. Returns `undefined` if
 * the document lacks the operation.
 */
export function selectOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): SelectedOperation | undefined {
  const operation = getOperationAST(document, operationName)
  if (!operation) return undefined
  const fragments = fragmentsOf(document)
  const selected = new Map<string, SelectedField>()
  const followed = new Set<string>()

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
    return possibleObjects(schema, parent).flatMap((type) => {
      const field = type.getFields()[name]
      return field ? [{ typeName: type.name, field }] : []
    })
  }

  const root = schema.getRootType(operation.operation)
  const levels: [GraphQLCompositeType, SelectionSetNode][] = root ? [[root, operation.selectionSet]] : []
  for (const [parent, set] of levels) {
    forEachField({ fragments, followed }, [set], (node, on) => {
      const type = on === undefined ? parent : schema.getType(on)
      const field = isCompositeType(type) ? noteField(type, node.name.value) : undefined
      const below = field && getNamedType(field.type)
      if (node.selectionSet && isCompositeType(below)) levels.push([below, node.selectionSet])
    })
  }
  return { kind: operation.operation, fields: [...selected.values()] }
}

type Field = Pick<GraphQLField<unknown, unknown>, 'extensions'>

/**
 * Returns the type names in `extensions.changes` of a mutation field, its declared changes. `*` stands for any type.
 */
export function statedChanges(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['changes'])
}

/** Returns the type names in `extensions.dependsOn` of a field, its declared dependencies. `*` stands for any type. */
export function statedDependsOn(field: Field): readonly string[] | undefined {
  return namesIn(field.extensions['dependsOn'])
}

/** Returns the names in `extensions.idFields` of a schema: the fields that identify entities, in order of preference. */
export function statedIdFields(schema: GraphQLSchema): readonly string[] | undefined {
  return namesIn(schema.extensions['idFields'])
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.filter((name): name is string => typeof name === 'string' && name !== '')
    : undefined
}
