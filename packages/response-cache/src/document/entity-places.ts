import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql'
import { forEachField, fragmentsOf, possibleObjects } from '@vinyasa/core/documents'
import type { FieldOfType } from '@vinyasa/invalidation'

/** A response key of a document, with the possible types of its values and the response keys below it. */
export interface EntityPlace {
  /** Names of the object types that a value can have. It is empty for leaf types. */
  readonly types: Set<string>
  /** The fields of this response key, for the type in the document and for its possible object types. */
  readonly fields: FieldOfType[]
  /** The arguments of the first field. Merged fields have equal arguments. */
  readonly arguments: readonly ArgumentNode[]
  readonly typenameKeys: Set<string>
  /** Response keys of fields without arguments, by `Type.field`, for each possible type. */
  readonly keys: Map<string, Set<string>>
  readonly children: Map<string, EntityPlace>
  /** Named fragments in this place. Each fragment is merged once, even if it is spread more often. */
  readonly fragments: Set<string>
}

/** Maximum number of selections for the places of one document, because nested fragments multiply selections. */
const MAX_SELECTIONS = 10_000

/**
 * Returns the places of a normalized document, below a root that represents the operation. Returns `undefined` if there
 * are too many; dependencies are then tracked by type.
 */
export function placesOf(schema: GraphQLSchema, document: DocumentNode): EntityPlace | undefined {
  const fragments = fragmentsOf(document)
  let selections = 0
  const includes = (): boolean => ++selections <= MAX_SELECTIONS

  function add(place: EntityPlace, parent: GraphQLCompositeType, set: SelectionSetNode): void {
    forEachField({ fragments, includes, followed: place.fragments }, [set], (node, on) => {
      const type = on === undefined ? parent : schema.getType(on)
      if (isCompositeType(type)) addField(place, type, node)
    })
  }

  function addField(place: EntityPlace, parent: GraphQLCompositeType, node: FieldNode): void {
    const name = node.name.value
    const key = node.alias?.value ?? name
    if (name === '__typename') place.typenameKeys.add(key)
    // With arguments, a field can have another value or only a part of it.
    if (!node.arguments?.length) {
      for (const type of objectNames(schema, parent)) {
        const coordinate = `${type}.${name}`
        const keys = place.keys.get(coordinate)
        if (keys) keys.add(key)
        else place.keys.set(coordinate, new Set([key]))
      }
    }
    const field = 'getFields' in parent ? parent.getFields()[name] : undefined
    if (!field) return
    let child = place.children.get(key)
    if (!child) place.children.set(key, (child = createPlace(node.arguments)))
    for (const typeName of new Set([parent.name, ...objectNames(schema, parent)])) {
      const own = fieldOf(schema, typeName, name)
      if (own) child.fields.push({ typeName, field: own })
    }
    const type = getNamedType(field.type)
    if (!node.selectionSet || !isCompositeType(type)) return
    for (const possible of objectNames(schema, type)) child.types.add(possible)
    add(child, type, node.selectionSet)
  }

  const root = createPlace([])
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const rootType = schema.getRootType(definition.operation)
    if (!rootType) continue
    root.types.add(rootType.name)
    add(root, rootType, definition.selectionSet)
  }
  return selections <= MAX_SELECTIONS ? root : undefined
}

function createPlace(args: readonly ArgumentNode[] = []): EntityPlace {
  return {
    types: new Set(),
    fields: [],
    arguments: args,
    typenameKeys: new Set(),
    keys: new Map(),
    children: new Map(),
    fragments: new Set(),
  }
}

/** Returns the names of the possible object types of a type. */
function objectNames(schema: GraphQLSchema, type: GraphQLCompositeType): readonly string[] {
  return possibleObjects(schema, type).map(({ name }) => name)
}

function fieldOf(
  schema: GraphQLSchema,
  typeName: string,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  const type = schema.getType(typeName)
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined
}

export function isListField({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(getNullableType(type))
}

/** Returns the possible types of an object according to the place and its `__typename`. */
export function typesOf(place: EntityPlace, value: Readonly<Record<string, unknown>>): readonly string[] {
  for (const key of place.typenameKeys) {
    const typename = value[key]
    if (typeof typename === 'string') return [typename]
  }
  return [...place.types]
}

/**
 * Returns the id from the field with the given coordinate, under all response keys. An empty id is ignored, because
 * proto3 sends it for an unset message.
 */
export function idOf(
  place: EntityPlace,
  value: Readonly<Record<string, unknown>>,
  coordinate: string,
): string | undefined {
  for (const key of place.keys.get(coordinate) ?? []) {
    const member = value[key]
    if (typeof member === 'number' || (typeof member === 'string' && member !== '')) return String(member)
  }
  return undefined
}
