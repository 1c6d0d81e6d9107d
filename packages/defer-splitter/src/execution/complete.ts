import {
  GraphQLError,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  isObjectType,
} from 'graphql'
import { isObjectCounter } from '@vinyasa/yoga-internals'
import type { Path } from './place.ts'
import type { FieldCall } from './field-call.ts'
import { isAsyncIterable, isPromise, type MaybePromise } from '@vinyasa/base'
import { readItems } from './read-items.ts'
import type { SharedValues } from './shared-values.ts'
import { inLaterTurn } from '../turn.ts'
import type { TypeShape } from '../document/type-shape.ts'

/** Objects of a list that are completed in one turn of the event loop: some ten milliseconds. */
const ITEMS_A_TURN = 500

/** Completes what a field gave, or an item of its list, at a path. `Of`: what is known of its type. */
type Complete<Of, Value = unknown> = (
  call: FieldCall,
  of: Of,
  value: Value,
  path: Path,
  shared: SharedValues | undefined,
) => unknown

/** GraphQL specification, section 6.4.3: value completion. */
const completeValue: Complete<TypeShape> = (call, shape, value, path, shared) => {
  if (value instanceof Error) throw value
  const completed = completeNullable(call, shape, value, path, shared)
  // A promise stands for a list or an object that is still to come, and not for null.
  if (completed === null && shape.isNonNull) {
    throw new Error(`Cannot return null for non-nullable field ${call.name}.`)
  }
  return completed
}

/**
 * Completes what a field or list item gave. What it threw or rejected with becomes an error at the nearest
 * place that may be null.
 */
export const completeResolved: Complete<TypeShape> = (call, shape, value, path, shared) => {
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

/** The commonest leaf: a string, number or boolean. Undefined when it is anything else, or does not fit. */
export function completePlainLeaf(type: GraphQLLeafType, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  try {
    return type.serialize(value) ?? undefined
  } catch {
    // The long way reports it.
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

/** A slice in each turn of the event loop, so that others are answered in between. */
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

/** Takes note of a rejection: a promise that is waited for later may fail before. */
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

function completeItem(
  call: FieldCall,
  shape: TypeShape,
  item: unknown,
  listPath: Path,
  index: number,
  shared: SharedValues | undefined,
): unknown {
  if (shape.kind === 'leaf') {
    const plain = completePlainLeaf(shape.type, item)
    if (plain !== undefined) return plain
  }
  const path: Path = { prev: listPath, key: index, typename: undefined }
  return completeResolved(call, shape, item, path, shared?.below(index))
}

const completeObject: Complete<GraphQLObjectType> = (call, type, source, path, shared) => {
  const { group, field } = call
  if (group.isClosed) throw new Error('The result of the field is no longer needed.')
  if (!type.isTypeOf || !isObjectCounter(type.isTypeOf)) group.operation.size.addObject()
  const place = { type, source, path, shared }
  if (!type.isTypeOf) return call.executeObject(group, place, field.below)
  const check = (isOfType: boolean): MaybePromise<unknown> => {
    if (isOfType) return call.executeObject(group, place, field.below)
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
