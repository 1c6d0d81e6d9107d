import {
  getArgumentValues,
  type GraphQLResolveInfo,
  locatedError,
  responsePathAsArray,
  type ResponsePath,
} from 'graphql'
import type { Data } from '../parts.ts'
import type { DeliveryRecord, ObjectPlace } from './delivery-record.ts'
import { ENDING, type Ending } from '@vinyasa/core'
import type { PlannedField, TypeShape } from '../document/selections.ts'

/** One field of one object, from the resolver to the completed value. */
export class FieldCall {
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
    if (group.isClosed) throw new Error('The result of the field is no longer needed.')
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

export function propertyOf(source: unknown, name: string): unknown {
  if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
  return (source as Data)[name]
}
