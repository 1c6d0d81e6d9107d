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

/** A response key of a document: what its values can be, and where their parts are. */
export interface EntityPlace {
  /** Object types that a value can be, by name; none for leaves. */
  readonly types: Set<string>
  /** The fields that stand here: of the type selected on, and of the object types that it stands for. */
  readonly fields: FieldOfType[]
  /** The arguments of the first of them: merged fields have the same. */
  readonly arguments: readonly ArgumentNode[]
  readonly typenameKeys: Set<string>
  /** Response keys of fields without arguments, by `Type.field`, for each type that a value can be. */
  readonly keys: Map<string, Set<string>>
  readonly children: Map<string, EntityPlace>
  /** Named fragments merged into this place; each is merged once, however often it is spread. */
  readonly fragments: Set<string>
}

/** Selections that are looked at for the places of one document: fragments in fragments multiply them. */
const MAX_SELECTIONS = 10_000

/**
 * The places of a normalised document, below a root that stands for the operation. Undefined: there are so many that it is
 * known type by type alone.
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
    // With arguments a field may say something else, or only a part.
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

/** The object types that a value of the type can be, by name. */
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

/** Lists the types that an object may have, as far as the place and its `__typename` tell. */
export function typesOf(place: EntityPlace, value: Readonly<Record<string, unknown>>): readonly string[] {
  for (const key of place.typenameKeys) {
    const typename = value[key]
    if (typeof typename === 'string') return [typename]
  }
  return [...place.types]
}

/**
 * The id that a field of the given coordinate shows, under whatever keys it was selected. An empty one says nothing: proto3
 * sends it for a message that nobody filled.
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
