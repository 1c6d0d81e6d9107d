import { isRecord } from '@vinyasa/core'
import { getNamedType, isLeafType, isObjectType } from 'graphql'
import { possibleObjects } from '@vinyasa/core/documents'
import { selectOperation, statedChanges } from '@vinyasa/invalidation'
import { placesOf, idOf, typesOf, type EntityPlace } from './entity-places.ts'
import type { EntityPlanInput } from './entity-plan.ts'
import type { InvalidationTarget } from '../store/tags.ts'

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
