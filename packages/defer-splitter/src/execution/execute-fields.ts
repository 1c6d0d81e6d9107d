import {
  GraphQLError,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  isObjectType,
  type ResponsePath,
} from 'graphql'
import { type Ending, isAsyncIterable, isPromise, type MaybePromise, onAbort } from '@vinyasa/core'
import { isObjectCounter } from '@vinyasa/core/documents'
import type { PlannedField, Selections, TypeShape } from '../document/selections.ts'
import type { Data } from '../parts.ts'
import { inLaterTurn } from '../turn.ts'
import type { DeliveryRecord, ObjectPlace } from './delivery-record.ts'
import { FieldCall, propertyOf } from './field-call.ts'
import { createSharedValues, type Resolved, type SharedValues } from './shared-values.ts'

/** Number of objects of a list that are completed in one tick of the event loop, in about ten milliseconds. */
const ITEMS_A_TURN = 500

/** Executes the immediate fields of an object in this group. Deferred fragments are added to the group. */
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
    if (!group.run.defer(group, selection.deferred, at)) {
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
      // The key is set immediately, even for a promise, so that the keys have the order of the document.
      data[field.key] = value
      if (plain !== undefined || !isPromise(value)) continue
      waiting ??= []
      waiting.push(value.then((settled) => (data[field.key] = settled)))
    }
  } catch (error) {
    // The failed field removes this object, so the values of the other fields are not used.
    if (waiting) Promise.allSettled(waiting).catch(() => undefined)
    throw error
  }
  if (!waiting) return data
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

/**
 * Executes the most common kind of field: a property with a string, number or boolean. Returns `undefined` for other
 * fields.
 */
function executePlainLeaf(group: DeliveryRecord, place: ObjectPlace, field: PlannedField): unknown {
  const { definition, shape } = field
  if (shape.kind !== 'leaf' || definition.resolve || place.shared || group.operation.fieldResolver) {
    return undefined
  }
  return completePlainLeaf(shape.type, propertyOf(place.source, definition.name))
}

/** Returns the completed value of the field. */
function executeField(group: DeliveryRecord, place: ObjectPlace, field: PlannedField): unknown {
  const call = new FieldCall(group, place, field)
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

/** An iterator can be read only once, so its items are stored. */
function readOnce(value: unknown, call: FieldCall): unknown {
  return isAsyncIterable(value) ? readAll(value, call.ending) : value
}

async function readAll(values: AsyncIterable<unknown>, ending: Ending): Promise<unknown[]> {
  const all: unknown[] = []
  await readItems(values, ending, (value) => all.push(value) > 0)
  return all
}

/** Completes the value of a field or of a list item at a path. `Of` is the type information. */
type Complete<Of, Value = unknown> = (
  call: FieldCall,
  of: Of,
  value: Value,
  path: ResponsePath,
  shared: SharedValues | undefined,
) => unknown

/** Completes a value (GraphQL specification, section 6.4.3). */
const completeValue: Complete<TypeShape> = (call, shape, value, path, shared) => {
  if (value instanceof Error) throw value
  const completed = completeNullable(call, shape, value, path, shared)
  // A promise represents a list or an object that is not ready, and not null.
  if (completed === null && shape.isNonNull) {
    throw new Error(`Cannot return null for non-nullable field ${call.name}.`)
  }
  return completed
}

/** Completes a resolved value or a promise. An error is reported at the nearest nullable path. */
const completeResolved: Complete<TypeShape> = (call, shape, value, path, shared) => {
  if (isPromise(value)) {
    return value.then(
      (settled) => completeResolved(call, shape, settled, path, shared),
      (error) => call.fail(error, shape, path),
    )
  }
  try {
    const completed = completeValue(call, shape, value, path, shared)
    return isPromise(completed)
      ? completed.then(undefined, (error) => call.fail(error, shape, path))
      : completed
  } catch (error) {
    return call.fail(error, shape, path)
  }
}

/**
 * Completes the most common leaf values: strings, numbers and booleans. Returns `undefined` for other or invalid
 * values.
 */
function completePlainLeaf(type: GraphQLLeafType, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  try {
    return type.serialize(value) ?? undefined
  } catch {
    // The complete function reports the error.
    return undefined
  }
}

const completeNullable: Complete<TypeShape> = (call, shape, value, path, shared) => {
  if (value === null || value === undefined) return null
  switch (shape.kind) {
    case 'leaf':
      return completeLeaf(shape.type, value)
    case 'list':
      return completeList(call, shape.item, value, path, shared)
    case 'object':
      return completeObject(call, shape.type, value, path, shared)
    case 'abstract':
      return completeAbstract(call, shape.type, value, path, shared)
  }
}

function completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
  const serialized: unknown = type.serialize(value)
  if (serialized === null || serialized === undefined) {
    throw new Error(`The type "${type.name}" serialized a non-null value to ${String(serialized)}.`)
  }
  return serialized
}

const completeList: Complete<TypeShape> = (call, itemShape, value, path, shared) => {
  if (isAsyncIterable(value)) return completeAsyncList(call, itemShape, value, path, shared)
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
    throw new GraphQLError(`Expected Iterable, but did not find one for field "${call.name}".`)
  }
  if (itemShape.kind !== 'leaf' && Array.isArray(value) && value.length > ITEMS_A_TURN) {
    return completeLongList(call, itemShape, value, path, shared)
  }
  const completed: unknown[] = []
  let isWaiting = false
  try {
    for (const item of value as Iterable<unknown>) {
      const done = completeItem(call, itemShape, item, path, completed.length, shared)
      isWaiting ||= isPromise(done)
      completed.push(done)
    }
  } catch (error) {
    if (isWaiting) Promise.allSettled(completed).catch(() => undefined)
    throw error
  }
  return isWaiting ? Promise.all(completed) : completed
}

/** Completes a part of the list in each tick of the event loop, so that other requests are served in between. */
const completeLongList: Complete<TypeShape, readonly unknown[]> = async (
  call,
  itemShape,
  items,
  path,
  shared,
) => {
  const completed: unknown[] = []
  for (let index = 0; index < items.length; index++) {
    if (index > 0 && index % ITEMS_A_TURN === 0) {
      await new Promise<void>((resolve) => inLaterTurn(resolve))
      if (call.group.isClosed) throw new Error('The result of the field is no longer needed.')
    }
    completed.push(heard(completeItem(call, itemShape, items[index], path, index, shared)))
  }
  return Promise.all(completed)
}

/** Marks a rejection as handled, because a promise can reject before it is awaited. */
function heard(completed: unknown): unknown {
  if (isPromise(completed)) completed.then(undefined, () => undefined)
  return completed
}

const completeAsyncList: Complete<TypeShape, AsyncIterable<unknown>> = async (
  call,
  itemShape,
  items,
  path,
  shared,
) => {
  const completed: unknown[] = []
  try {
    await readItems(items, call.ending, (item) => {
      if (call.group.isClosed) return false
      completed.push(heard(completeItem(call, itemShape, item, path, completed.length, shared)))
      return true
    })
  } catch (error) {
    Promise.allSettled(completed).catch(() => undefined)
    throw error
  }
  return Promise.all(completed)
}

/**
 * Passes the items of an iterable to `take`. The iterable is closed immediately if the ending aborts, also while the
 * next item is pending. It is also closed if `take` throws or returns false.
 */
function readItems(
  items: AsyncIterable<unknown>,
  ending: Ending,
  take: (item: unknown) => boolean,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  let isOver = false
  let letGo: (() => void) | undefined
  return new Promise((resolve, reject) => {
    letGo = onAbort(ending, leave)
    if (!isOver) next()

    function next(): void {
      iterator.next().then(taken, fail)
    }

    function taken({ done = false, value }: IteratorResult<unknown>): void {
      if (isOver) return
      if (done) return end(resolve)
      try {
        if (take(value)) return next()
        close()
        end(resolve)
      } catch (error) {
        close()
        fail(error)
      }
    }

    function fail(error: unknown): void {
      end(() => reject(error as Error))
    }

    function leave(): void {
      close()
      fail(new Error('The result of the field is no longer needed.'))
    }

    /** A waiting generator receives the call only when it continues, so the result is not awaited. */
    function close(): void {
      if (isOver) return
      try {
        iterator.return?.().then(undefined, () => undefined)
      } catch {
        // An error of `return` has no effect.
      }
    }

    function end(settle: () => void): void {
      isOver = true
      letGo?.()
      settle()
    }
  })
}

function completeItem(
  call: FieldCall,
  shape: TypeShape,
  item: unknown,
  listPath: ResponsePath,
  index: number,
  shared: SharedValues | undefined,
): unknown {
  if (shape.kind === 'leaf') {
    const plain = completePlainLeaf(shape.type, item)
    if (plain !== undefined) return plain
  }
  const path: ResponsePath = { prev: listPath, key: index, typename: undefined }
  return completeResolved(call, shape, item, path, shared?.below(index))
}

const completeObject: Complete<GraphQLObjectType> = (call, type, source, path, shared) => {
  const { group, field } = call
  if (group.isClosed) throw new Error('The result of the field is no longer needed.')
  if (!type.isTypeOf || !isObjectCounter(type.isTypeOf)) group.operation.size.addObject()
  const place = { type, source, path, shared }
  if (!type.isTypeOf) return executeSelections(group, place, field.below)
  const check = (isOfType: boolean): MaybePromise<unknown> => {
    if (isOfType) return executeSelections(group, place, field.below)
    throw new GraphQLError(`A value of the field "${field.definition.name}" is not of type "${type.name}".`)
  }
  const isOfType = type.isTypeOf(source, group.operation.contextValue, call.info)
  return isPromise(isOfType) ? isOfType.then(check) : check(isOfType)
}

const completeAbstract: Complete<GraphQLAbstractType> = (call, type, value, path, shared) => {
  const { contextValue, typeResolver } = call.group.operation
  const resolveType = type.resolveType ?? typeResolver
  const named = resolveType(value, contextValue, call.info, type)
  const complete = (name: unknown): unknown =>
    completeObject(call, concreteType(call, type, name), value, path, shared)
  return isPromise(named) ? named.then(complete) : complete(named)
}

function concreteType(call: FieldCall, type: GraphQLAbstractType, name: unknown): GraphQLObjectType {
  const { schema } = call.group.operation
  const found = typeof name === 'string' ? schema.getType(name) : undefined
  if (isObjectType(found) && schema.isSubType(type, found)) return found
  throw new GraphQLError(
    `Abstract type "${type.name}" must resolve to the name of one of its object types for field "${call.name}", but resolved to ${JSON.stringify(name) ?? 'undefined'}.`,
  )
}
