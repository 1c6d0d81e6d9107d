import { isRecord } from '@vinyasa/core'
import { valueFromASTUntyped, type DocumentNode, type GraphQLSchema } from 'graphql'
import { selectOperation, type Dependencies, type FieldOfType } from '@vinyasa/invalidation'
import { isListField, placesOf, idOf, typesOf, type EntityPlace } from './entity-places.ts'
import { anyTag, entityTag, typeOfTag, typeTag, unidentifiedTag } from '../store/tags.ts'

type IdFieldOf = Dependencies['idFieldOf']

export type Variables = Readonly<Record<string, unknown>> | null | undefined

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

export function createEntityPlan(input: EntityPlanInput): EntityPlan {
  // The plan is created on first use, because most strategies do not need entities.
  let plan: EntityPlan | undefined
  return {
    tagsOf(data, variables) {
      plan ??= planEntities(input)
      return plan.tagsOf(data, variables)
    },
  }
}

function planEntities({ schema, document, dependencies }: EntityPlanInput): EntityPlan {
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
