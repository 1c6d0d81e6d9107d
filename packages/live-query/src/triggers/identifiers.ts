import {
  getNamedType,
  isCompositeType,
  isObjectType,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { keyed } from '@vinyasa/core'
import { forEachField, fragmentsOf, possibleObjects } from '@vinyasa/core/documents'
import type { Dependencies } from '@vinyasa/invalidation'

/** Finds the entities in a result, e.g. `User:1`. */
export interface EntityFinder {
  /** Returns whether every place of the operation that can return the type selects its id field. */
  identifies(typeName: string): boolean
  entitiesIn(data: unknown): Set<string>
}

/** A composite field of the operation, with the identification of its values and the fields below it. */
interface Place {
  readonly key: string
  /** The type of its values. `undefined` if it depends on the result; the finder then does not identify the values. */
  readonly typeName: string | undefined
  readonly idKey: string | undefined
  readonly children: readonly Place[]
}

/**
 * Maximum number of selections, because nested fragments multiply them. Entities of larger operations are not
 * identified.
 */
const MAX_SELECTIONS = 20_000

/** Creates a finder for an operation. Searching a result does not need the schema. */
export function createEntityFinder(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  dependencies: Dependencies,
): EntityFinder {
  const fragments = fragmentsOf(document)
  const identified = new Set<string>()
  const blind = new Set<string>()
  let selections = 0

  function placesOf(type: GraphQLCompositeType, fields: readonly FieldNode[]): Place[] {
    const places: Place[] = []
    for (const node of fields) {
      const { selectionSet } = node
      if (!selectionSet) continue
      const below = fieldsOf(selectionSet)
      const selected = fieldsOf(selectionSet, isUnconditional)
      const idNodesOf = keyed((value: GraphQLCompositeType) =>
        possibleObjects(schema, value).map(({ name }) => idNodeOf(name, selected)),
      )
      const fieldTypes = new Set<GraphQLCompositeType>()
      for (const objectType of possibleObjects(schema, type)) {
        const field = objectType.getFields()[node.name.value]
        const fieldType = field && getNamedType(field.type)
        if (!isCompositeType(fieldType)) continue
        const idNodes = idNodesOf(fieldType)
        if (field && idNodes.includes(undefined)) noteUnselected(objectType.name, field, below)
        if (fieldTypes.has(fieldType) || selections > MAX_SELECTIONS) continue
        fieldTypes.add(fieldType)
        const typeName = isObjectType(fieldType) ? fieldType.name : undefined
        const idNode = typeName ? idNodes[0] : undefined
        const known = idNode ? identified : blind
        for (const { name } of possibleObjects(schema, fieldType)) known.add(name)
        places.push({
          key: keyOf(node),
          typeName,
          idKey: idNode && keyOf(idNode),
          children: placesOf(fieldType, below),
        })
      }
    }
    return places
  }

  function idNodeOf(typeName: string, fields: readonly FieldNode[]): FieldNode | undefined {
    const idField = dependencies.idFieldOf(typeName)
    return fields.find(({ name }) => name.value === idField)
  }

  /** Adds unselected types that a value without an id is computed from, e.g. a count. */
  function noteUnselected(
    parentName: string,
    field: GraphQLField<unknown, unknown>,
    below: readonly FieldNode[],
  ): void {
    const dependence = dependencies.ofField(parentName, field)
    const type = getNamedType(field.type)
    const selected = new Set<string>()
    for (const objectType of possibleObjects(schema, type)) {
      for (const { name } of below) {
        const item = objectType.getFields()[name.value]
        if (item)
          for (const object of possibleObjects(schema, getNamedType(item.type))) selected.add(object.name)
      }
    }
    for (const name of dependence.everything ? [] : dependence.types) if (!selected.has(name)) blind.add(name)
  }

  /**
   * Returns the fields of a selection, including all fragments regardless of their types. Additional fields are safe,
   * and missing fields are not.
   */
  function fieldsOf(set: SelectionSetNode, counts?: (selection: SelectionNode) => boolean): FieldNode[] {
    const fields: FieldNode[] = []
    const includes = (selection: SelectionNode): boolean =>
      ++selections <= MAX_SELECTIONS && (counts?.(selection) ?? true)
    forEachField({ fragments, includes }, [set], (node) => void fields.push(node))
    return fields
  }

  const queryType = schema.getQueryType()
  const places = queryType ? placesOf(queryType, fieldsOf(operation.selectionSet)) : []
  const isKnown = selections <= MAX_SELECTIONS
  return {
    identifies: (typeName) => isKnown && identified.has(typeName) && !blind.has(typeName),
    entitiesIn(data) {
      const found = new Set<string>()
      if (isKnown) collect(data, places, found)
      return found
    },
  }
}

function collect(value: unknown, places: readonly Place[], found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) return value.forEach((item) => collect(item, places, found))
  for (const place of places) visit((value as Record<string, unknown>)[place.key], place, found)
}

function visit(value: unknown, place: Place, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) return value.forEach((item) => visit(item, place, found))
  if (place.typeName && place.idKey) {
    found.add(`${place.typeName}:${String((value as Record<string, unknown>)[place.idKey])}`)
  }
  collect(value, place.children, found)
}

function isUnconditional({ directives = [] }: SelectionNode): boolean {
  return directives.length === 0
}

function keyOf(node: FieldNode): string {
  return node.alias?.value ?? node.name.value
}
