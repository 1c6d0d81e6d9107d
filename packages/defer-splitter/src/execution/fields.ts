import type { GraphQLLeafType, SelectionSetNode } from 'graphql'
import type { FieldGroup } from '../collect-fields.ts'
import type { Data } from '../parts.ts'
import { completeValue } from './complete.ts'
import type { DeliveryGroup, ObjectPlace } from './delivery-group.ts'
import { FieldCall, propertyOf } from './field-call.ts'
import { isAsyncIterable, isPromise, type MaybePromise } from './maybe-promise.ts'
import { createSharedValues, type Resolved, type SharedValues } from './shared-values.ts'

/** Executes what is selected on an object and due in this group; what is deferred is handed to the group. */
export function executeSelections(
  group: DeliveryGroup,
  place: ObjectPlace,
  selectionSets: readonly SelectionSetNode[],
): MaybePromise<Data> {
  const { collector, rootType, definition } = group.operation
  let selected = collector.collect(selectionSets, place.type)
  let at = place
  if (selected.deferred.length > 0) {
    if (!place.shared && selected.sharedKeys.size > 0) {
      at = { ...place, shared: createSharedValues(selected.sharedKeys) }
    }
    if (!group.defer(selected.deferred, at)) {
      selected = collector.collectInlined(selectionSets, place.type)
      at = place
    }
  }
  const isSerial = definition.operation === 'mutation' && place.type === rootType && !place.path
  return isSerial ? executeSerially(group, at, selected.groups) : executeFields(group, at, selected.groups)
}

function executeFields(
  group: DeliveryGroup,
  place: ObjectPlace,
  fields: readonly FieldGroup[],
): MaybePromise<Data> {
  const data: Data = {}
  let waiting: Promise<unknown>[] | undefined
  try {
    for (const field of fields) {
      const { key } = field
      const value = executeField(group, place, field)
      if (value === undefined) continue
      // Set at once even when it is still to come: the keys keep the order of the document.
      data[key] = value
      if (!isPromise(value)) continue
      waiting ??= []
      waiting.push(value.then((settled) => (data[key] = settled)))
    }
  } catch (error) {
    // The field that failed takes this object with it; what the others still bring is of no use.
    if (waiting) Promise.allSettled(waiting).catch(() => undefined)
    throw error
  }
  return waiting ? Promise.all(waiting).then(() => data) : data
}

async function executeSerially(
  group: DeliveryGroup,
  place: ObjectPlace,
  fields: readonly FieldGroup[],
): Promise<Data> {
  const data: Data = {}
  for (const field of fields) {
    const value = await executeField(group, place, field)
    if (value !== undefined) data[field.key] = value
  }
  return data
}

/** The field's value as it goes into the data; undefined when the type has no such field. */
function executeField(group: DeliveryGroup, place: ObjectPlace, field: FieldGroup): unknown {
  const plan = group.operation.planOf(place.type, field)
  if (!plan) return undefined
  const { definition, plainLeaf } = plan
  if (plainLeaf && !place.shared) {
    const completed = completePlainLeaf(plainLeaf, propertyOf(place.source, definition.name))
    if (completed !== undefined) return completed
  }
  const call = new FieldCall(group, place, field, definition, executeSelections)
  const shared = place.shared?.has(field.key) ? place.shared : undefined
  const { type } = definition
  const { path } = call
  try {
    const resolved = shared ? resolveShared(shared, call) : call.resolve(group.contextValue)
    const below = shared?.below(field.key)
    const completed = isPromise(resolved)
      ? resolved.then((value) => completeValue(call, type, value, path, below))
      : completeValue(call, type, resolved, path, below)
    return isPromise(completed)
      ? completed.then(undefined, (error) => call.fail(error, type, path))
      : completed
  } catch (error) {
    return call.fail(error, type, path)
  }
}

/** The commonest field: a property with a string, number or boolean. Undefined when it is anything else. */
function completePlainLeaf(type: GraphQLLeafType, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  try {
    return type.serialize(value) ?? undefined
  } catch {
    // The long way reports it.
    return undefined
  }
}

function resolveShared(shared: SharedValues, call: FieldCall): unknown {
  const { key } = call.field
  let resolved: Resolved | undefined = shared.get(key)
  if (!resolved) {
    try {
      // With the operation's context: the call is not one fragment's to cancel.
      const value = call.resolve(call.group.operation.contextValue)
      // An iterator can be read once only.
      resolved = { value: isAsyncIterable(value) ? readAll(value) : value }
    } catch (thrown) {
      resolved = { thrown }
    }
    shared.set(key, resolved)
  }
  if ('thrown' in resolved) throw resolved.thrown
  return resolved.value
}

async function readAll(values: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const value of values) all.push(value)
  return all
}
