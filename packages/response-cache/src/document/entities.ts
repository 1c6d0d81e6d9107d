import { isRecord } from '@vinyasa/core'
import { forEachField, fragmentsOf, possibleObjects } from '@vinyasa/core/documents'
import { selectOperation, statedChanges, type Dependencies, type FieldOfType } from '@vinyasa/invalidation'
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  valueFromASTUntyped,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql'
import {
  anyTag,
  entityTag,
  type InvalidationTarget,
  typeOfTag,
  typeTag,
  unidentifiedTag,
} from '../store/entry.ts'

/** A response key of a document, with the possible types of its values and the response keys below it. */
interface EntityPlace {
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
function placesOf(schema: GraphQLSchema, document: DocumentNode): EntityPlace | undefined {
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

function isListField({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(getNullableType(type))
}

/** Returns the possible types of an object according to the place and its `__typename`. */
function typesOf(place: EntityPlace, value: Readonly<Record<string, unknown>>): readonly string[] {
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
function idOf(
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

type IdFieldOf = Dependencies['idFieldOf']

type Variables = Readonly<Record<string, unknown>> | null | undefined

/**
 * Determines the dependencies of the results of one document, by entity if possible, and otherwise by type. A result
 * depends on a single entity only if its id led to it: the id is an argument with the name of the id field, or another
 * entity references it. Lists, counts and null values can change with any entity of the type.
 */
export interface EntityPlan {
  /**
   * Returns the tags of a result: `User:1` for an entity with a known id, `User:?` if any entity of the type matters,
   * `*` for everything, and the types themselves for changes without an entity.
   */
  tagsOf(data: unknown, variables: Variables): readonly string[]
}

export interface EntityPlanInput {
  readonly schema: GraphQLSchema
  /** The normalized document: one operation and the fragments that it uses. */
  readonly document: DocumentNode
  readonly dependencies: Dependencies
}

export function createEntityPlan({ schema, document, dependencies }: EntityPlanInput): EntityPlan {
  const { idFieldOf } = dependencies
  const root = placesOf(schema, document)
  const asked = new Set(root?.children.values())
  const pointers = new Set<EntityPlace>()
  const fixed = new Set<string>()

  function prepare(parent: EntityPlace): void {
    const mayPoint = parent === root || areEntities(parent, idFieldOf)
    for (const place of parent.children.values()) {
      if (mayPoint && isPointer(place, idFieldOf)) pointers.add(place)
      else for (const tag of tagsOfFields(place, dependencies)) fixed.add(tag)
      prepare(place)
    }
  }
  if (root) prepare(root)
  else
    for (const { definitions } of selectOperation(schema, document, undefined)?.fields ?? [])
      for (const tag of tagsOfFields({ fields: definitions }, dependencies)) fixed.add(tag)

  function collect(place: EntityPlace, value: unknown, variables: Variables, tags: Set<string>): void {
    if (Array.isArray(value)) {
      for (const item of value) collect(place, item, variables, tags)
      return
    }
    const isThere = isRecord(value)
    if (pointers.has(place)) {
      const isRoot = asked.has(place)
      for (const type of isThere ? typesOf(place, value) : place.types) {
        const idField = idFieldOf(type)
        const id = isThere ? idOf(place, value, `${type}.${idField}`) : undefined
        const isKnown = id !== undefined && (!isRoot || isAskedFor(place, idField, id, variables))
        tags.add(isKnown ? entityTag(type, id) : unidentifiedTag(type))
      }
    }
    if (!isThere) return
    for (const [key, child] of place.children) {
      if (key in value) collect(child, value[key], variables, tags)
    }
  }

  return {
    tagsOf(data, variables) {
      const tags = new Set(fixed)
      if (root && isRecord(data)) collect(root, data, variables, tags)
      // A change of an entity also affects entities with an unknown id.
      const needed = [...tags].filter((tag) => {
        const unidentified = unidentifiedTag(typeOfTag(tag))
        return tag === unidentified || !tags.has(unidentified)
      })
      return [...new Set([...needed.map((tag) => typeTag(typeOfTag(tag))), ...needed])]
    },
  }
}

const areEntities = ({ types }: EntityPlace, idFieldOf: IdFieldOf): boolean =>
  types.size > 0 && [...types].every((type) => idFieldOf(type) !== undefined)

/** Returns whether the values are single entities that do not depend on other entities of the type. */
function isPointer(place: EntityPlace, idFieldOf: IdFieldOf): boolean {
  return (
    areEntities(place, idFieldOf) &&
    place.fields.every(({ field }) => !isListField(field) && field.extensions['dependsOn'] === undefined)
  )
}

function tagsOfFields(
  { fields }: { readonly fields: readonly FieldOfType[] },
  dependencies: Dependencies,
): string[] {
  return fields.flatMap(({ typeName, field }) => {
    const dependence = dependencies.ofField(typeName, field)
    return dependence.everything ? [anyTag] : [...dependence.types].map(unidentifiedTag)
  })
}

/** Returns whether the id equals an argument with the name of the id field, at any depth. */
function isAskedFor(
  { arguments: args }: EntityPlace,
  idField: string | undefined,
  id: string,
  variables: Variables,
): boolean {
  const holds = (name: string, value: unknown): boolean => {
    if (isRecord(value)) return Object.entries(value).some(([key, member]) => holds(key, member))
    return (
      name === idField && (typeof value === 'string' || typeof value === 'number') && String(value) === id
    )
  }
  return args.some(({ name, value }) => holds(name.value, valueFromASTUntyped(value, variables)))
}

/**
 * Returns the changed entities of a mutation's result, for the types that the mutation can change. If the result lacks
 * the id of an entity, the complete type counts as changed. The same applies to unselected fields of payloads.
 */
export function changedEntities(
  { schema, document, dependencies }: EntityPlanInput,
  types: Iterable<string>,
  data: unknown,
): readonly InvalidationTarget[] {
  const root = placesOf(schema, document)
  const found = new Map<string, InvalidationTarget>()
  const whole = new Set<string>()

  function addWhole(typeName: string): void {
    const dependence = dependencies.ofType(typeName)
    for (const type of dependence.everything ? [typeName] : dependence.types) whole.add(type)
  }

  function collect(place: EntityPlace, value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) collect(place, item)
      return
    }
    if (!isRecord(value)) {
      for (const type of place.types) addWhole(type)
      return
    }
    for (const type of typesOf(place, value)) {
      const idField = dependencies.idFieldOf(type)
      if (idField === undefined) addUnselected(place, type)
      const id = idField === undefined ? undefined : idOf(place, value, `${type}.${idField}`)
      if (id === undefined) whole.add(type)
      else found.set(`${type}:${id}`, { type, id })
    }
    for (const [key, child] of place.children) {
      if (child.types.size > 0) collect(child, value[key])
    }
  }

  /**
   * Adds the types of fields that were not selected, or that were selected with arguments. For a type without id, every
   * field counts.
   */
  function addUnselected(place: EntityPlace, typeName: string): void {
    const type = schema.getType(typeName)
    if (!isObjectType(type)) return
    for (const field of Object.values(type.getFields())) {
      const below = getNamedType(field.type)
      if (!isLeafType(below) && !place.keys.has(`${typeName}.${field.name}`)) addWhole(below.name)
    }
  }
  if (root) {
    for (const [key, place] of root.children) {
      for (const { field } of place.fields) statedChanges(field)?.forEach(addWhole)
      if (place.types.size > 0) collect(place, isRecord(data) ? data[key] : undefined)
    }
  } else {
    // If the entities cannot be located, their complete types count as changed.
    const fields = selectOperation(schema, document, undefined)?.fields ?? []
    for (const { field } of fields.flatMap(({ definitions }) => definitions)) {
      statedChanges(field)?.forEach(addWhole)
      for (const { name } of possibleObjects(schema, getNamedType(field.type))) addWhole(name)
    }
  }
  const changed = new Set(types)
  const identified = new Set([...found.values()].map(({ type }) => type))
  for (const type of changed) if (!identified.has(type)) whole.add(type)
  // Types that `types` lacks belong to the entities that contain them.
  return [
    ...[...whole].filter((type) => changed.has(type)).map((type) => ({ type })),
    ...[...found.values()].filter(({ type }) => changed.has(type) && !whole.has(type)),
  ]
}
