import {
  getNullableType,
  GraphQLError,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { ObjectPlace, Path } from './delivery-group.ts'
import type { FieldCall } from './field-call.ts'
import { isAsyncIterable, isPromise, type MaybePromise } from './maybe-promise.ts'
import type { SharedValues } from './shared-values.ts'

/** GraphQL specification, section 6.4.3: value completion. */
export function completeValue(
  call: FieldCall,
  type: GraphQLOutputType,
  value: unknown,
  path: Path,
  shared: SharedValues | undefined,
): unknown {
  if (value instanceof Error) throw value
  if (isNonNullType(type)) {
    const completed = completeValue(call, getNullableType(type), value, path, shared)
    return isPromise(completed)
      ? completed.then((settled) => notNull(call, settled))
      : notNull(call, completed)
  }
  if (value === null || value === undefined) return null
  if (isLeafType(type)) return completeLeaf(type, value)
  if (isListType(type)) return completeList(call, type, value, path, shared)
  const place = (objectType: GraphQLObjectType): ObjectPlace => ({
    type: objectType,
    source: value,
    path,
    shared,
  })
  return isObjectType(type) ? completeObject(call, place(type)) : completeAbstract(call, type, value, place)
}

function notNull({ place, definition }: FieldCall, value: unknown): unknown {
  if (value !== null) return value
  throw new Error(`Cannot return null for non-nullable field ${place.type.name}.${definition.name}.`)
}

function completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
  const serialized: unknown = type.serialize(value)
  if (serialized === null || serialized === undefined) {
    throw new Error(`The type "${type.name}" serialized a value that is not null to ${String(serialized)}.`)
  }
  return serialized
}

function completeList(
  call: FieldCall,
  type: GraphQLList<GraphQLOutputType>,
  value: unknown,
  path: Path,
  shared: SharedValues | undefined,
): MaybePromise<unknown[]> {
  const itemType = type.ofType
  if (isAsyncIterable(value)) return completeAsyncList(call, itemType, value, path, shared)
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
    const { place, definition } = call
    throw new GraphQLError(
      `Expected Iterable, but did not find one for field "${place.type.name}.${definition.name}".`,
    )
  }
  const completed: unknown[] = []
  let isWaiting = false
  let index = 0
  try {
    for (const item of value as Iterable<unknown>) {
      const done = completeItem(call, itemType, item, path, index++, shared)
      isWaiting ||= isPromise(done)
      completed.push(done)
    }
  } catch (error) {
    if (isWaiting) Promise.allSettled(completed).catch(() => undefined)
    throw error
  }
  return isWaiting ? Promise.all(completed) : completed
}

async function completeAsyncList(
  call: FieldCall,
  itemType: GraphQLOutputType,
  items: AsyncIterable<unknown>,
  path: Path,
  shared: SharedValues | undefined,
): Promise<unknown[]> {
  const completed: unknown[] = []
  try {
    for await (const item of items) {
      if (call.group.isClosed) break
      completed.push(completeItem(call, itemType, item, path, completed.length, shared))
    }
  } catch (error) {
    Promise.allSettled(completed).catch(() => undefined)
    throw error
  }
  return Promise.all(completed)
}

function completeItem(
  call: FieldCall,
  type: GraphQLOutputType,
  item: unknown,
  listPath: Path,
  index: number,
  shared: SharedValues | undefined,
): unknown {
  const path: Path = { prev: listPath, key: index, typename: undefined }
  const below = shared?.below(index)
  try {
    const completed = isPromise(item)
      ? item.then((settled) => completeValue(call, type, settled, path, below))
      : completeValue(call, type, item, path, below)
    return isPromise(completed)
      ? completed.then(undefined, (error) => call.fail(error, type, path))
      : completed
  } catch (error) {
    return call.fail(error, type, path)
  }
}

function completeObject(call: FieldCall, place: ObjectPlace): unknown {
  const { group, field } = call
  const { type, source } = place
  if (group.isClosed) throw new Error('The answer is no longer wanted.')
  if (!type.isTypeOf) return call.executeObject(group, place, field.selectionSets)
  const check = (isOfType: boolean): MaybePromise<unknown> => {
    if (isOfType) return call.executeObject(group, place, field.selectionSets)
    throw new GraphQLError(`A value of "${call.definition.name}" is not of type "${type.name}".`)
  }
  const isOfType = type.isTypeOf(source, group.contextValue, call.info)
  return isPromise(isOfType) ? isOfType.then(check) : check(isOfType)
}

function completeAbstract(
  call: FieldCall,
  type: GraphQLAbstractType,
  value: unknown,
  place: (type: GraphQLObjectType) => ObjectPlace,
): unknown {
  const { operation, contextValue } = call.group
  const resolveType = type.resolveType ?? operation.typeResolver
  const named = resolveType(value, contextValue, call.info, type)
  const complete = (name: unknown): unknown => completeObject(call, place(concreteType(call, type, name)))
  return isPromise(named) ? named.then(complete) : complete(named)
}

function concreteType(call: FieldCall, type: GraphQLAbstractType, name: unknown): GraphQLObjectType {
  const { schema } = call.group.operation
  const found = typeof name === 'string' ? schema.getType(name) : undefined
  if (isObjectType(found) && schema.isSubType(type, found)) return found
  const { place, definition } = call
  throw new GraphQLError(
    `Abstract type "${type.name}" must resolve to the name of one of its object types for field "${place.type.name}.${definition.name}", but resolved to ${JSON.stringify(name) ?? 'undefined'}.`,
  )
}
