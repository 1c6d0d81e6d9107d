import { getArgumentValues, type GraphQLField, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql'
import type { FieldGroup } from '../collect-fields.ts'
import type { Data } from '../parts.ts'
import { completeValue } from './complete.ts'
import { type DeliveryGroup, failField, type ObjectPlace, type Path } from './delivery-group.ts'
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
  const { operation } = group
  const { key, nodes } = field
  const definition = operation.fieldOf(place.type, nodes[0].name.value)
  if (!definition) return undefined
  const path: Path = { prev: place.path, key, typename: place.type.name }
  const shared = place.shared?.has(key) ? place.shared : undefined
  const fail = (error: unknown): null => failField(group, error, definition.type, field, path)
  try {
    const info = lazyInfo(group, place, field, definition, path)
    const resolved = shared
      ? resolveShared(shared, group, place, field, definition, info)
      : resolveField(group, place, field, definition, info)
    const at = { group, field, info, path, shared: shared?.below(key), executeObject: executeSelections }
    const completed = isPromise(resolved)
      ? resolved.then((value) => completeValue(at, definition.type, value))
      : completeValue(at, definition.type, resolved)
    return isPromise(completed) ? completed.then(undefined, fail) : completed
  } catch (error) {
    return fail(error)
  }
}

function resolveField(
  group: DeliveryGroup,
  place: ObjectPlace,
  { nodes }: FieldGroup,
  definition: GraphQLField<unknown, unknown>,
  info: () => GraphQLResolveInfo,
): unknown {
  const { source } = place
  const { operation, contextValue } = group
  if (group.isClosed) throw new Error('The answer is no longer wanted.')
  const resolve = definition.resolve ?? operation.fieldResolver
  const args = (): Record<string, unknown> =>
    definition.args.length > 0 ? getArgumentValues(definition, nodes[0], operation.variableValues) : {}
  if (resolve) return resolve(source, args(), contextValue, info())
  if (typeof source !== 'object' && typeof source !== 'function') return undefined
  const value: unknown = (source as Data | null)?.[definition.name]
  return typeof value === 'function' ? value.call(source, args(), contextValue, info()) : value
}

function resolveShared(
  shared: SharedValues,
  group: DeliveryGroup,
  place: ObjectPlace,
  field: FieldGroup,
  definition: GraphQLField<unknown, unknown>,
  info: () => GraphQLResolveInfo,
): unknown {
  let resolved: Resolved | undefined = shared.get(field.key)
  if (!resolved) {
    try {
      // With the operation's context: the call is not one fragment's to cancel.
      const { contextValue } = group.operation
      const value = resolveField({ ...group, contextValue }, place, field, definition, info)
      // An iterator can be read once only.
      resolved = { value: isAsyncIterable(value) ? readAll(value) : value }
    } catch (thrown) {
      resolved = { thrown }
    }
    shared.set(field.key, resolved)
  }
  if ('thrown' in resolved) throw resolved.thrown
  return resolved.value
}

/** Most resolvers of plain properties never look at `info`: it is made when it is asked for. */
function lazyInfo(
  { operation, signal }: DeliveryGroup,
  place: ObjectPlace,
  { nodes }: FieldGroup,
  definition: GraphQLField<unknown, unknown>,
  path: Path,
): () => GraphQLResolveInfo {
  let info: GraphQLResolveInfo | undefined
  return () => {
    if (info) return info
    const made = {
      fieldName: definition.name,
      fieldNodes: nodes,
      returnType: definition.type,
      parentType: place.type,
      path,
      schema: operation.schema,
      fragments: operation.fragments,
      rootValue: operation.rootValue,
      operation: operation.definition,
      variableValues: operation.variableValues,
      // Where Yoga's own executor has it.
      signal,
    }
    return (info = made)
  }
}

async function readAll(values: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const value of values) all.push(value)
  return all
}
