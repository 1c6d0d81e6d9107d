import {
  getNullableType,
  GraphQLError,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql'
import type { FieldGroup } from '../collect-fields.ts'
import { type DeliveryGroup, failField, type ObjectPlace, type Path } from './delivery-group.ts'
import { isAsyncIterable, isPromise, type MaybePromise } from './maybe-promise.ts'
import type { SharedValues } from './shared-values.ts'

/** A field, or an item of its list, on the way from what the resolver gave to what goes into the data. */
export interface Completion {
  readonly group: DeliveryGroup
  readonly field: FieldGroup
  readonly info: () => GraphQLResolveInfo
  readonly path: Path
  readonly shared: SharedValues | undefined
  executeObject(
    group: DeliveryGroup,
    place: ObjectPlace,
    selectionSets: readonly SelectionSetNode[],
  ): MaybePromise<unknown>
}

/** GraphQL specification, section 6.4.3: value completion. */
export function completeValue(at: Completion, type: GraphQLOutputType, value: unknown): unknown {
  if (value instanceof Error) throw value
  if (isNonNullType(type)) {
    const completed = completeValue(at, getNullableType(type), value)
    if (completed === null) throw new Error(nullMessage(at))
    return isPromise(completed) ? completed.then((settled) => notNull(at, settled)) : completed
  }
  if (value === null || value === undefined) return null
  if (isLeafType(type)) return completeLeaf(type, value)
  if (isListType(type)) return completeList(at, type, value)
  if (isObjectType(type)) return completeObject(at, type, value)
  return completeAbstract(at, type, value)
}

function notNull(at: Completion, value: unknown): unknown {
  if (value === null) throw new Error(nullMessage(at))
  return value
}

function nullMessage({ info }: Completion): string {
  const { parentType, fieldName } = info()
  return `Cannot return null for non-nullable field ${parentType.name}.${fieldName}.`
}

function completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
  const serialized: unknown = type.serialize(value)
  if (serialized === null || serialized === undefined) {
    throw new Error(`The type "${type.name}" serialized a value that is not null to ${String(serialized)}.`)
  }
  return serialized
}

function completeList(
  at: Completion,
  type: GraphQLList<GraphQLOutputType>,
  value: unknown,
): MaybePromise<unknown[]> {
  const itemType = type.ofType
  if (isAsyncIterable(value)) return completeAsyncList(at, itemType, value)
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
    const { parentType, fieldName } = at.info()
    throw new GraphQLError(
      `Expected Iterable, but did not find one for field "${parentType.name}.${fieldName}".`,
    )
  }
  const completed: unknown[] = []
  let isWaiting = false
  let index = 0
  try {
    for (const item of value as Iterable<unknown>) {
      const done = completeItem(at, itemType, item, index++)
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
  at: Completion,
  itemType: GraphQLOutputType,
  items: AsyncIterable<unknown>,
): Promise<unknown[]> {
  const completed: unknown[] = []
  try {
    for await (const item of items) {
      if (at.group.isClosed) break
      completed.push(completeItem(at, itemType, item, completed.length))
    }
  } catch (error) {
    Promise.allSettled(completed).catch(() => undefined)
    throw error
  }
  return Promise.all(completed)
}

function completeItem(at: Completion, type: GraphQLOutputType, item: unknown, index: number): unknown {
  const path: Path = { prev: at.path, key: index, typename: undefined }
  const below: Completion = { ...at, path, shared: at.shared?.below(index) }
  const fail = (error: unknown): null => failField(at.group, error, type, at.field, path)
  try {
    const completed = isPromise(item)
      ? item.then((settled) => completeValue(below, type, settled))
      : completeValue(below, type, item)
    return isPromise(completed) ? completed.then(undefined, fail) : completed
  } catch (error) {
    return fail(error)
  }
}

function completeObject(at: Completion, type: GraphQLObjectType, value: unknown): unknown {
  const { group, field, path, shared } = at
  if (group.isClosed) throw new Error('The answer is no longer wanted.')
  const place = { type, source: value, path, shared }
  if (!type.isTypeOf) return at.executeObject(group, place, field.selectionSets)
  const check = (isOfType: boolean): MaybePromise<unknown> => {
    if (!isOfType)
      throw new GraphQLError(`A value of "${at.info().fieldName}" is not of type "${type.name}".`)
    return at.executeObject(group, place, field.selectionSets)
  }
  const isOfType = type.isTypeOf(value, group.contextValue, at.info())
  return isPromise(isOfType) ? isOfType.then(check) : check(isOfType)
}

function completeAbstract(at: Completion, type: GraphQLAbstractType, value: unknown): unknown {
  const { operation, contextValue } = at.group
  const resolveType = type.resolveType ?? operation.typeResolver
  const named = resolveType(value, contextValue, at.info(), type)
  const complete = (name: unknown): unknown => completeObject(at, concreteType(at, type, name), value)
  return isPromise(named) ? named.then(complete) : complete(named)
}

function concreteType(at: Completion, type: GraphQLAbstractType, name: unknown): GraphQLObjectType {
  const { schema } = at.group.operation
  const found = typeof name === 'string' ? schema.getType(name) : undefined
  if (isObjectType(found) && schema.isSubType(type, found)) return found
  const { parentType, fieldName } = at.info()
  throw new GraphQLError(
    `Abstract type "${type.name}" must resolve to the name of one of its object types for field "${parentType.name}.${fieldName}", but resolved to ${JSON.stringify(name) ?? 'undefined'}.`,
  )
}
