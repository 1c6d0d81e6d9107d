import {
  getArgumentValues,
  GraphQLError,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isObjectType,
  locatedError,
  responsePathAsArray,
  type ResponsePath,
} from 'graphql'
import {
  after,
  type Ending,
  ENDING,
  isAsyncIterable,
  isPromise,
  type MaybePromise,
  onAbort,
} from '@vinyasa/core'
import { isObjectCounter } from '@vinyasa/core/documents'
import type { PlannedField, Selections, TypeShape } from '../document/selections.ts'
import type { Data } from '../parts.ts'
import { inLaterTurn } from '../turn.ts'
import { type DeliveryRecord, type ObjectPlace, SharedValues } from './delivery-record.ts'

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
      at = { ...place, shared: new SharedValues(selection.sharedKeys) }
    }
    if (!group.run.defer(group, selection.deferred, at)) {
      selection = selections.inlined.on(place.type)
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
  const below = field.below.isEmpty ? undefined : shared?.below(field.key)
  return completeResolved(call, field.shape, resolved, call.path, below)
}

/** Returns the outcome of the first group that needs the field. */
function resolveShared(shared: SharedValues, call: FieldCall): unknown {
  const { outcomes } = shared
  const { key } = call.field
  const known = outcomes.get(key)
  if (known) return known()
  try {
    // An iterator can be read only once, so its items are stored.
    const value = after(call.resolve(true), (given) =>
      isAsyncIterable(given) ? readAll(given, call.ending) : given,
    )
    outcomes.set(key, () => value)
    return value
  } catch (error) {
    outcomes.set(key, () => {
      throw error
    })
    throw error
  }
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
  if (isAsyncIterable(value)) {
    return completeItems(call, itemShape, (take) => readItems(value, call.ending, take), path, shared)
  }
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
    throw new GraphQLError(`Expected Iterable, but did not find one for field "${call.name}".`)
  }
  if (itemShape.kind !== 'leaf' && Array.isArray(value) && value.length > ITEMS_A_TURN) {
    return completeItems(call, itemShape, (take) => readInTurns(value, take), path, shared)
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

/** Passes items to `take` until it returns false. */
type ReadItems = (take: (item: unknown) => boolean) => Promise<void>

/** Completes items that are not all read in one tick. */
const completeItems: Complete<TypeShape, ReadItems> = async (call, itemShape, read, path, shared) => {
  const completed: unknown[] = []
  await read((item) => {
    if (call.group.isClosed) return false
    const done = completeItem(call, itemShape, item, path, completed.length, shared)
    // Marks a rejection as handled, because a promise can reject before it is awaited.
    if (isPromise(done)) done.then(undefined, () => undefined)
    completed.push(done)
    return true
  })
  return Promise.all(completed)
}

/** Reads a part of the list in each tick of the event loop, so that other requests are served in between. */
async function readInTurns(items: readonly unknown[], take: (item: unknown) => boolean): Promise<void> {
  for (let index = 0; index < items.length; index++) {
    if (index > 0 && index % ITEMS_A_TURN === 0) await new Promise<void>(inLaterTurn)
    if (!take(items[index])) return
  }
}

/**
 * Reads an iterable. The iterable is closed if the ending aborts, also while the next item is pending, or if `take`
 * throws or returns false.
 */
async function readItems(
  items: AsyncIterable<unknown>,
  ending: Ending,
  take: (item: unknown) => boolean,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  let isOpen = true
  let leave: (() => void) | undefined
  const letGo = onAbort(ending, () => leave?.())
  try {
    for (;;) {
      const { done, value } = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
        leave = () => reject(notNeeded())
        if (ending.aborted) return leave()
        iterator.next().then(resolve, (error) => {
          isOpen = false
          reject(error as Error)
        })
      })
      if (done) isOpen = false
      if (done || !take(value)) return
    }
  } finally {
    letGo()
    if (isOpen) close(iterator)
  }
}

/** Closes an iterator. A waiting generator receives the call only when it continues, so the result is not awaited. */
function close(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.().then(undefined, () => undefined)
  } catch {
    // An error of `return` has no effect.
  }
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
  if (group.isClosed) throw notNeeded()
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

function notNeeded(): Error {
  return new Error('The result of the field is no longer needed.')
}

/** One field of one object, from the resolver to the completed value. */
class FieldCall {
  readonly group: DeliveryRecord
  readonly place: ObjectPlace
  readonly field: PlannedField
  readonly path: ResponsePath
  #info: GraphQLResolveInfo | undefined
  #isShared = false

  constructor(group: DeliveryRecord, place: ObjectPlace, field: PlannedField) {
    this.group = group
    this.place = place
    this.field = field
    this.path = { prev: place.path, key: field.key, typename: place.type.name }
  }

  /** Created on first use, because most fields do not need it. */
  get info(): GraphQLResolveInfo {
    return (this.#info ??= toResolveInfo(this))
  }

  /** Aborts when the value of the field is no longer needed. */
  get ending(): Ending {
    return this.#isShared ? this.group.run.ending : this.group.ending
  }

  /**
   * Returns the value of the resolver, or the property of the source.
   *
   * @param isShared whether other groups use the value too, so that this group must not cancel it
   */
  resolve(isShared: boolean): unknown {
    const { group, field, place } = this
    const { contextValue } = group.operation
    this.#isShared = isShared
    if (group.isClosed) throw notNeeded()
    const { definition } = field
    const { source } = place
    const resolve = definition.resolve ?? group.operation.fieldResolver
    if (resolve) return resolve(source, this.#args(), contextValue, this.info)
    const value = propertyOf(source, definition.name)
    return typeof value === 'function' ? value.call(source, this.#args(), contextValue, this.info) : value
  }

  #args(): Record<string, unknown> {
    const { definition, nodes } = this.field
    if (definition.args.length === 0) return {}
    return getArgumentValues(definition, nodes[0], this.group.operation.variableValues)
  }

  /** Returns null if the field is nullable and reports the error. Otherwise it throws the error. */
  fail(error: unknown, { isNonNull }: TypeShape, path: ResponsePath): null {
    const located = locatedError(error, this.field.nodes, responsePathAsArray(path))
    if (isNonNull) throw located
    this.group.report(located, path)
    return null
  }

  /** The name of the field in errors. */
  get name(): string {
    return `${this.place.type.name}.${this.field.definition.name}`
  }
}

/** All properties are own properties, because some resolvers copy the object. */
function toResolveInfo(call: FieldCall): GraphQLResolveInfo {
  const { group, place, field, path } = call
  const { operation } = group
  const info: GraphQLResolveInfo & Omit<InfoExtras, 'signal' | typeof ENDING> = {
    fieldName: field.definition.name,
    fieldNodes: place.shared?.nodesOf(field.key) ?? field.nodes,
    returnType: field.definition.type,
    parentType: place.type,
    path,
    schema: operation.schema,
    fragments: operation.fragments,
    rootValue: operation.rootValue,
    operation: operation.definition,
    variableValues: operation.variableValues,
    getAbortSignal: () => call.ending.signal,
    [CALL]: call,
    getAsyncHelpers: () => asyncHelpers,
  }
  return Object.defineProperties(info, endings)
}

const CALL = Symbol('vinyasa.defer.field-call')

/**
 * The properties are created on first use. All fields share the accessors, because separate accessors would create a
 * hidden class per field.
 */
const endings: PropertyDescriptorMap & ThisType<InfoExtras> = {
  signal: {
    enumerable: true,
    configurable: true,
    get() {
      return this[CALL].ending.signal
    },
  },
  [ENDING]: {
    enumerable: true,
    configurable: true,
    get() {
      return this[CALL].ending
    },
  },
}

/** Properties that executors add to those of graphql 16. */
interface InfoExtras {
  readonly [CALL]: FieldCall
  /** The ending that our sources use. */
  readonly [ENDING]: Ending
  /** Added by `@graphql-tools/executor`, which Yoga uses. */
  readonly signal: AbortSignal
  /** Added by graphql-js 17, like the next property. */
  readonly getAbortSignal: () => AbortSignal
  readonly getAsyncHelpers: () => typeof asyncHelpers
}

/** These functions delay hooks for the end of all work. This executor has no such hooks. */
const asyncHelpers = {
  promiseAll: <Value>(values: readonly (PromiseLike<Value> | Value)[]): Promise<Value[]> =>
    Promise.all(values),
  track(values: readonly unknown[]): void {
    Promise.allSettled(values).catch(() => undefined)
  },
}

function propertyOf(source: unknown, name: string): unknown {
  if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
  return (source as Data)[name]
}
