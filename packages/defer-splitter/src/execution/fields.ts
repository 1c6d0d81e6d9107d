import type { Data } from '../parts.ts'
import { completePlainLeaf, completeResolved } from './complete.ts'
import type { DeliveryRecord } from './delivery-record.ts'
import type { ObjectPlace } from './place.ts'
import { FieldCall, propertyOf } from './field-call.ts'
import { type Ending, isAsyncIterable, isPromise, type MaybePromise } from '@vinyasa/base'
import type { PlannedField, Selections } from '../document/selections.ts'
import { readItems } from './read-items.ts'
import { createSharedValues, type Resolved, type SharedValues } from './shared-values.ts'

/** Executes what is selected on an object and due in this group; what is deferred is handed to the group. */
export function executeSelections(
  group: DeliveryRecord,
  place: ObjectPlace,
  selections: Selections,
): MaybePromise<Data> {
  let selection = selections.on(place.type)
  let at = place
  if (selection.deferred.length > 0) {
    if (!place.shared && selection.sharedKeys.size > 0) {
      at = { ...place, shared: createSharedValues(selection.sharedKeys) }
    }
    if (!group.defer(selection.deferred, at)) {
      selection = selections.inlinedOn(place.type)
      at = place
    }
  }
  const isSerial = !place.path && group.operation.isMutation
  return isSerial ? executeSerially(group, at, selection.fields) : executeFields(group, at, selection.fields)
}

function executeFields(
  group: DeliveryRecord,
  place: ObjectPlace,
  fields: readonly PlannedField[],
): MaybePromise<Data> {
  const data: Data = {}
  let waiting: Promise<unknown>[] | undefined
  try {
    for (const field of fields) {
      const plain = executePlainLeaf(group, place, field)
      const value = plain ?? executeField(group, place, field)
      // Set at once even when it is still to come: the keys keep the order of the document.
      data[field.key] = value
      if (plain !== undefined || !isPromise(value)) continue
      waiting ??= []
      waiting.push(value.then((settled) => (data[field.key] = settled)))
    }
  } catch (error) {
    // The field that failed takes this object with it; what the others still bring is of no use.
    if (waiting) Promise.allSettled(waiting).catch(() => undefined)
    throw error
  }
  return waiting ? allDone(waiting, data) : data
}

function allDone(waiting: readonly Promise<unknown>[], data: Data): Promise<Data> {
  const done = waiting.length === 1 && waiting[0] ? waiting[0] : Promise.all(waiting)
  return done.then(() => data)
}

async function executeSerially(
  group: DeliveryRecord,
  place: ObjectPlace,
  fields: readonly PlannedField[],
): Promise<Data> {
  const data: Data = {}
  for (const field of fields) data[field.key] = await executeField(group, place, field)
  return data
}

/** The commonest field: a property with a string, number or boolean. Undefined when it is anything else. */
function executePlainLeaf(group: DeliveryRecord, place: ObjectPlace, field: PlannedField): unknown {
  const { definition, shape } = field
  if (shape.kind !== 'leaf' || definition.resolve || place.shared || group.operation.fieldResolver) {
    return undefined
  }
  return completePlainLeaf(shape.type, propertyOf(place.source, definition.name))
}

/** The field's value as it goes into the data. */
function executeField(group: DeliveryRecord, place: ObjectPlace, field: PlannedField): unknown {
  const call = new FieldCall(group, place, field, executeSelections)
  const shared = place.shared?.has(field.key) ? place.shared : undefined
  let resolved: unknown
  try {
    resolved = shared ? resolveShared(shared, call) : call.resolve(false)
  } catch (error) {
    return call.fail(error, field.shape, call.path)
  }
  return completeResolved(call, field.shape, resolved, call.path, shared?.below(field.key))
}

function resolveShared(shared: SharedValues, call: FieldCall): unknown {
  const { key } = call.field
  let resolved: Resolved | undefined = shared.get(key)
  if (!resolved) {
    try {
      const value = call.resolve(true)
      resolved = {
        value: isPromise(value) ? value.then((given) => readOnce(given, call)) : readOnce(value, call),
      }
    } catch (thrown) {
      resolved = { thrown }
    }
    shared.set(key, resolved)
  }
  if ('thrown' in resolved) throw resolved.thrown
  return resolved.value
}

/** An iterator can be read once only. */
function readOnce(value: unknown, call: FieldCall): unknown {
  return isAsyncIterable(value) ? readAll(value, call.ending) : value
}

async function readAll(values: AsyncIterable<unknown>, ending: Ending): Promise<unknown[]> {
  const all: unknown[] = []
  await readItems(values, ending, (value) => all.push(value) > 0)
  return all
}
