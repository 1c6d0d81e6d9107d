import {
  getNamedType,
  getNullableType,
  isListType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql'
import { keyed } from '@vinyasa/core'
import { possibleObjects } from '@vinyasa/core/documents'
import type { InvalidationEvent } from '@vinyasa/invalidation'

const OPERATIONS = ['create', 'update', 'delete']

/** Returns whether an event matches a trigger `<EntityType>.<operation>`. `*` matches anything on either side. */
export function matchesTrigger(trigger: string, event: InvalidationEvent): boolean {
  const dot = trigger.indexOf('.')
  return (
    matchesPart(trigger.slice(0, dot), event.entityType) &&
    matchesPart(trigger.slice(dot + 1), event.operation)
  )
}

export function isTrigger(value: unknown): value is string {
  return typeof value === 'string' && /^[^.\s]+\.[^.\s]+$/.test(value)
}

/** Returns whether an event means that anything can have changed, after missed bus events or a new schema. */
export function isResync(event: InvalidationEvent): boolean {
  return event.entityType === '*'
}

/** Returns `create`, `update` and `delete` of each type. */
export function triggersOfTypes(typeNames: Iterable<string>): string[] {
  return [...typeNames].flatMap((name) => OPERATIONS.map((operation) => `${name}.${operation}`))
}

/** Returns the entity types of a field: its type, and the item types of lists in this type (`ListUsersResponse`). */
export function entityTypesOf(schema: GraphQLSchema, type: GraphQLOutputType): Set<string> {
  const names = new Set<string>()
  for (const own of possibleObjects(schema, getNamedType(type))) {
    names.add(own.name)
    for (const field of Object.values(own.getFields())) {
      if (!isListType(getNullableType(field.type))) continue
      for (const item of possibleObjects(schema, getNamedType(field.type))) names.add(item.name)
    }
  }
  return names
}

function matchesPart(pattern: string, value: string): boolean {
  return pattern === value || pattern === '*' || value === '*'
}

/** An index of triggers that finds matches without visiting other triggers. */
export class TriggerIndex<T> {
  readonly #byTrigger = new Map<string, Set<T>>()
  readonly #itemsOf = keyed(() => new Set<T>(), this.#byTrigger)

  add(item: T, triggers: readonly string[]): void {
    for (const trigger of triggers) this.#itemsOf(trigger).add(item)
  }

  remove(item: T, triggers: readonly string[]): void {
    for (const trigger of triggers) {
      const items = this.#byTrigger.get(trigger)
      items?.delete(item)
      if (items?.size === 0) this.#byTrigger.delete(trigger)
    }
  }

  match(event: InvalidationEvent): Set<T> {
    const { entityType, operation } = event
    const found = new Set<T>()
    const keys =
      entityType === '*' || operation === '*'
        ? [...this.#byTrigger.keys()].filter((trigger) => matchesTrigger(trigger, event))
        : [`${entityType}.${operation}`, `${entityType}.*`, `*.${operation}`, '*.*']
    for (const key of keys) {
      for (const item of this.#byTrigger.get(key) ?? []) found.add(item)
    }
    return found
  }
}
