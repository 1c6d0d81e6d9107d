import {
  defaultFieldResolver,
  getNamedType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'
import { keyed } from '@vinyasa/core'
import { possibleObjects } from '@vinyasa/core/documents'
import { statedDependsOn } from './selected-fields.ts'

type Field = GraphQLField<unknown, unknown>

/** A field without `dependsOn`. Its values can be computed from entities that do not contain it. */
export interface ComputedField {
  /** Schema coordinate, e.g. `Cart.total`. */
  readonly coordinate: string
  /** Value types of the field without entities below them. */
  readonly values: ReadonlySet<string>
  /** Entities that the source can compute the values from. `undefined` means any entity. */
  readonly from: ReadonlySet<string> | undefined
  /** Entity that contains the field; `undefined` if an operation can select the value outside of entities. */
  readonly entity: string | undefined
}

/** Decides to which objects the values of types without an id field belong. */
export interface ValueTypes {
  /**
   * Returns whether a change of the value in an entity does not affect values of the type in other objects.
   * @param entity Type of the entity; `undefined` if it is unknown
   */
  belongsToParent(typeName: string, entity: string | undefined): boolean
  /** Returns undeclared fields that keep mutations from attributing a value to its entity, with the entities. */
  computedFields(): ReadonlyMap<string, ReadonlySet<string>>
}

export interface ValueTypesInput {
  readonly schema: GraphQLSchema
  readonly isEntity: (typeName: string) => boolean
  /** All object types that queries can return. */
  readonly queried: () => ReadonlySet<string>
  /** Returns the object types that a value of a type consists of, and whether an entity is among them. */
  readonly closureOf: (typeName: string) => {
    readonly types: ReadonlySet<string>
    readonly reachesEntity: boolean
  }
}

/** A connection defines the meaning of its `PageInfo` (GraphQL Cursor Connections Specification). */
const PAGE_INFO = 'PageInfo'

/** Returns whether a field does not come with its parent: it has a join or a custom resolver. */
export function hasOwnSource({ extensions, resolve }: Field): boolean {
  if (extensions['requires'] !== undefined) return true
  return resolve !== undefined && resolve !== defaultFieldResolver && extensions['origin'] === undefined
}

const isUndeclaredPart = (field: Field): boolean =>
  !hasOwnSource(field) && statedDependsOn(field) === undefined

/** Creates the value types of a schema. They are computed on first use. */
export function createValueTypes(input: ValueTypesInput): ValueTypes {
  let known: readonly ComputedField[] | undefined
  const fields = (): readonly ComputedField[] => (known ??= findFields(input))

  /** Lists the entities that contain values of the type. */
  const ownersOf = keyed((value: string): readonly string[] =>
    [...input.queried()].filter((name) => {
      const type = input.schema.getType(name)
      return (
        isObjectType(type) &&
        input.isEntity(name) &&
        Object.values(type.getFields()).some((field) =>
          input.closureOf(getNamedType(field.type).name).types.has(value),
        )
      )
    }),
  )

  const isComputedFrom = ({ from }: ComputedField, value: string, entity: string | undefined): boolean =>
    from === undefined ||
    (entity === undefined ? ownersOf(value).some((owner) => from.has(owner)) : from.has(entity))

  return {
    belongsToParent(typeName, entity) {
      // Entities below a value change together with it, and every response with the value depends on them.
      if (typeName === PAGE_INFO || input.closureOf(typeName).reachesEntity) return true
      return !fields().some((field) => field.values.has(typeName) && isComputedFrom(field, typeName, entity))
    },
    computedFields() {
      const found = new Map<string, Set<string>>()
      for (const field of fields()) {
        for (const value of field.values) {
          for (const owner of ownersOf(value)) {
            if (owner === field.entity || !isComputedFrom(field, value, owner)) continue
            found.set(field.coordinate, (found.get(field.coordinate) ?? new Set()).add(owner))
          }
        }
      }
      return found
    },
  }
}

function findFields({ schema, isEntity, queried, closureOf }: ValueTypesInput): readonly ComputedField[] {
  const found: ComputedField[] = []
  const queryType = schema.getQueryType()

  /** Collects the values of a field, down to the next entities and to fields that have a source or a declaration. */
  function collect(start: string, type: GraphQLNamedType): ReadonlyMap<string, ReadonlySet<string>> {
    const values = new Map<string, ReadonlySet<string>>()
    const seen = new Set<GraphQLObjectType>()
    const waiting: [string, GraphQLNamedType][] = [[start, type]]
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [coordinate, below] = next
      for (const object of possibleObjects(schema, below)) {
        if (isEntity(object.name) || object.name === PAGE_INFO) continue
        const { types, reachesEntity } = closureOf(object.name)
        const own = [...types].filter((name) => !isEntity(name))
        if (!reachesEntity) values.set(coordinate, new Set([...(values.get(coordinate) ?? []), ...own]))
        if (!reachesEntity || seen.has(object)) continue
        seen.add(object)
        for (const field of Object.values(object.getFields()).filter(isUndeclaredPart))
          waiting.push([`${object.name}.${field.name}`, getNamedType(field.type)])
      }
    }
    return values
  }

  /** Returns the other entities that the source sends together with an entity, at any depth. */
  function entitiesWith(start: GraphQLObjectType): ReadonlySet<string> {
    const objects = new Set([start])
    for (const object of objects) {
      for (const field of Object.values(object.getFields())) {
        if (hasOwnSource(field)) continue
        for (const below of possibleObjects(schema, getNamedType(field.type))) objects.add(below)
      }
    }
    return new Set(
      [...objects].map(({ name }) => name).filter((name) => name !== start.name && isEntity(name)),
    )
  }

  for (const typeName of queried()) {
    const type = schema.getType(typeName)
    if (!isObjectType(type)) continue
    const entity = type !== queryType && isEntity(typeName) ? typeName : undefined
    let from: ReadonlySet<string> | undefined
    for (const field of Object.values(type.getFields())) {
      const isFetched = type === queryType || hasOwnSource(field)
      // Fields of other values are reached from the field that fetches them or from their entity.
      if (statedDependsOn(field) !== undefined || (!isFetched && entity === undefined)) continue
      // Responses with a fetched value without entities depend on everything.
      if (isFetched && !closureOf(getNamedType(field.type).name).reachesEntity) continue
      for (const [coordinate, values] of collect(`${typeName}.${field.name}`, getNamedType(field.type))) {
        if (isFetched) found.push({ coordinate, values, from: undefined, entity: undefined })
        else found.push({ coordinate, values, from: (from ??= entitiesWith(type)), entity })
      }
    }
  }
  return found
}
