import { isRecord } from '@vinyasa/core'
import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'
import { createDependencyCache } from '../dependencies/dependencies.ts'
import { statedChanges } from '../dependencies/statements.ts'
import { ANYTHING, type InvalidationEvent } from '../types.ts'

const OPERATIONS = new Map([
  ['create', 'create'],
  ['add', 'create'],
  ['insert', 'create'],
  ['update', 'update'],
  ['set', 'update'],
  ['patch', 'update'],
  ['edit', 'update'],
  ['upsert', 'update'],
  ['delete', 'delete'],
  ['remove', 'delete'],
])

/** Verb and noun in the name of a mutation. They can add events, but not limit them. */
export interface Verb {
  /** Operation: `create`, `update` or `delete`; `undefined` if the first word is an unknown verb. */
  readonly operation: string | undefined
  /** Rest of the name in the form of a type name; `undefined` if the name has only one word. */
  readonly noun: string | undefined
}

/** Splits the name of a mutation: `DeleteUser`, `deleteUser` and `delete_user` return `delete` and `User`. */
export function readVerb(name: string): Verb {
  const [, first = '', rest = ''] = /^([A-Za-z][a-z]*)_?(.*)$/s.exec(name) ?? []
  return {
    operation: OPERATIONS.get(first.toLowerCase()),
    noun: rest === '' ? undefined : rest.charAt(0).toUpperCase() + rest.slice(1),
  }
}

type Field = GraphQLField<unknown, unknown>

export interface MutationEventsInput {
  /** Schema of the server, if known, because plugins can add declarations to it. */
  readonly schema: GraphQLSchema
  /** Field of the mutation type; `undefined` if the schema does not contain the mutation. */
  readonly field: Field | undefined
  readonly verb: Verb
  readonly args: Readonly<Record<string, unknown>>
  /** Value that the field resolves to; `undefined` if it is unknown. */
  readonly result: unknown
}

export interface MutationEventsOptions {
  /** Returns the value of a field from the source's own result. Default: reads the property with the field's name. */
  readonly read?: ((result: object, field: Field) => unknown) | undefined
}

/**
 * Creates a function that derives the events of a mutation without declared events. The events name the types that
 * the mutation declares or returns, and the type in its name. The result contains
 * `{ entityType: '*', operation: '*' }` if the types are unknown. An event carries an entity id only if that entity
 * is the only one of its type that can have changed.
 */
export function createMutationEvents(
  options: MutationEventsOptions = {},
): (input: MutationEventsInput) => readonly InvalidationEvent[] {
  const { read = readMember } = options
  const dependenciesOf = createDependencyCache()

  /** Returns the ids of the entities of one type in a result, by position. */
  function idsIn(schema: GraphQLSchema, field: Field, result: unknown): ReadonlyMap<string, string> {
    const ids = new Map<string, string>()
    const { isEntity, ofType } = dependenciesOf(schema)
    const type = getNullableType(field.type)
    if (!isObjectType(type) || !isRecord(result)) return ids
    if (isEntity(type.name)) {
      const id = idOf(schema, result, type)
      return id === undefined ? ids : ids.set(type.name, id)
    }
    const places = new Map<string, number>()
    for (const member of Object.values(type.getFields())) {
      const reached = ofType(getNamedType(member.type).name)
      for (const name of reached.everything ? [] : reached.types)
        places.set(name, (places.get(name) ?? 0) + 1)
    }
    for (const member of Object.values(type.getFields())) {
      const inner = getNullableType(member.type)
      if (isListType(inner) || !isObjectType(inner) || places.get(inner.name) !== 1) continue
      const value = read(result, member)
      const id = isRecord(value) ? idOf(schema, value, inner) : undefined
      if (id !== undefined) ids.set(inner.name, id)
    }
    return ids
  }

  function idOf(schema: GraphQLSchema, entity: object, type: GraphQLObjectType): string | undefined {
    const field = type.getFields()[dependenciesOf(schema).idFieldOf(type.name) ?? '']
    const id = field && read(entity, field)
    if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') return undefined
    // Proto3 sends an empty id for an unset message.
    return id === '' ? undefined : String(id)
  }

  return ({ schema, field, verb, args, result }) => {
    const { operation = 'update', noun } = verb
    const named = noun === undefined ? undefined : schema.getType(noun)
    const hinted = isObjectType(named) ? named : undefined
    const changed = field ? dependenciesOf(schema).ofMutationField(field) : { everything: true as const }
    if (!field || changed.everything) {
      // The id does not limit the change, because an event for all data is published as well.
      return hinted === undefined
        ? ANYTHING
        : [...ANYTHING, event(hinted.name, operation, idOf(schema, args, hinted))]
    }
    const { isEntity } = dependenciesOf(schema)
    const entities = [...changed.types].filter(isEntity)
    const ids = idsIn(schema, field, result)
    const stated = new Set(statedChanges(field))
    const events = [...changed.types].map((type) => {
      const isMeant = type === hinted?.name || (entities.length === 1 && type === entities[0])
      return event(type, isMeant ? operation : '*', stated.has(type) ? undefined : ids.get(type))
    })
    if (hinted && !changed.types.has(hinted.name)) events.push(event(hinted.name, operation, undefined))
    return events
  }
}

function event(entityType: string, operation: string, entityId: string | undefined): InvalidationEvent {
  return { entityType, operation, ...(entityId !== undefined && { entityId }) }
}

function readMember(result: object, { name }: Field): unknown {
  return Object.hasOwn(result, name) ? (result as Record<string, unknown>)[name] : undefined
}
