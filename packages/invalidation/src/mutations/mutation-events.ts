import { backgroundClock, type Clock, isRecord } from '@vinyasa/core'
import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isListType,
  isObjectType,
} from 'graphql'
import { createDependencyCache } from '../dependencies/dependencies.ts'
import { statedChanges } from '../dependencies/selected-fields.ts'
import { ANYTHING, type InvalidationBus, type InvalidationEvent } from '../types.ts'
import { createReminders } from './reminders.ts'

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
interface Verb {
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

interface MutationEventsInput {
  /** Schema of the server, if known, because plugins can add declarations to it. */
  readonly schema: GraphQLSchema
  /** Field of the mutation type; `undefined` if the schema does not contain the mutation. */
  readonly field: Field | undefined
  readonly verb: Verb
  readonly args: Readonly<Record<string, unknown>>
  /** Value that the field resolves to; `undefined` if it is unknown. */
  readonly result: unknown
}

interface MutationEventsOptions {
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

/**
 * Effect of a mutation that failed:
 * - `done`: the backend made the change and failed afterwards;
 * - `refused`: the backend made no change;
 * - `unknown`: the backend possibly made the change, or can still make it.
 */
export type MutationOutcome = 'done' | 'refused' | 'unknown'

interface Mutation<T> {
  readonly call: () => Promise<T>
  readonly outcomeOf: (error: unknown) => MutationOutcome
  /**
   * Returns the invalidation events of the mutation. `result` is `undefined` if the call failed. An empty list means
   * that the mutation changes no data.
   */
  readonly changes: (result: T | undefined) => readonly InvalidationEvent[]
}

/** Publishes the invalidation events of a source's mutations before their responses are sent. */
export interface MutationAnnouncer {
  /**
   * Makes the call and publishes its events immediately. If the outcome is `unknown`, it publishes them again after
   * 1, 5 and 30 seconds. Settles like the call.
   */
  run<T>(mutation: Mutation<T>): Promise<T>
  /** Publishes the events with an unknown outcome one last time and stops. */
  close(): Promise<void>
}

interface MutationAnnouncerOptions {
  readonly bus: InvalidationBus
  /** Discards reads in flight, so that later callers do not share a read that began before a change. */
  readonly forget: () => void
  /** Clock for the repetitions. Default: the system clock. */
  readonly clock?: Clock | undefined
}

/** Creates the announcer of one source. See {@link MutationAnnouncer}. */
export function createMutationAnnouncer(options: MutationAnnouncerOptions): MutationAnnouncer {
  const { bus, forget, clock = backgroundClock } = options
  const leaveBus = bus.subscribe(forget, { phase: 'forget' })
  const reminders = createReminders((events) => void bus.publish(events), clock)
  const underWay = new Set<() => readonly InvalidationEvent[]>()
  let isClosed = false

  async function announce(events: readonly InvalidationEvent[], isCertain: boolean): Promise<void> {
    // Also for mutations that declare no changes. It costs at most one shared call.
    if (events.length === 0) return forget()
    if (!isCertain && !isClosed) reminders.add(events)
    await bus.publish(events)
  }

  return {
    async run({ call, outcomeOf, changes }) {
      const changesOf = (result: Parameters<typeof changes>[0]): readonly InvalidationEvent[] => {
        try {
          return changes(result)
        } catch {
          return ANYTHING
        }
      }
      const unsure = (): readonly InvalidationEvent[] => changesOf(undefined)
      underWay.add(unsure)
      try {
        const result = await call()
        await announce(changesOf(result), true)
        return result
      } catch (error) {
        const outcome = outcomeOf(error)
        if (outcome !== 'refused') await announce(unsure(), outcome === 'done')
        throw error
      } finally {
        underWay.delete(unsure)
      }
    },
    async close() {
      if (isClosed) return
      isClosed = true
      leaveBus()
      const left = [...reminders.close(), ...[...underWay].flatMap((unsure) => unsure())]
      if (left.length > 0) await bus.publish(left)
    },
  }
}
