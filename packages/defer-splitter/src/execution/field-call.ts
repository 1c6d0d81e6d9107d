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

  /** Most fields never need it: it is made when it is asked for. */
  get info(): GraphQLResolveInfo {
    return (this.#info ??= toResolveInfo(this))
  }

  /** Aborts when what the field gives is no longer wanted. */
  get ending(): Ending {
    return this.#isShared ? this.group.run.ending : this.group.ending
  }

  /**
   * Returns what the resolver gives, or the property of the source.
   *
   * @param isShared Other groups wait for it too: it is not this one's to cancel.
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

  /** A field error stops at the nearest place that may be null: here, or it is thrown on. */
  fail(error: unknown, { isNonNull }: TypeShape, path: ResponsePath): null {
    const located = locatedError(error, this.field.nodes, responsePathAsArray(path))
    if (isNonNull) throw located
    this.group.report(located, path)
    return null
  }

  /** The field as errors name it. */
  get name(): string {
    return `${this.place.type.name}.${this.field.definition.name}`
  }
}

/** Own properties all of them: there are resolvers that hand on a copy. */
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

/** Made when they are asked for. One for all: accessors in the literal would give each field a hidden class of its own. */
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

/** Members that executors add to those of graphql 16. */
interface InfoExtras {
  readonly [CALL]: FieldCall
  /** What our sources end their calls by. */
  readonly [ENDING]: Ending
  /** Added by `@graphql-tools/executor`, which Yoga uses. */
  readonly signal: AbortSignal
  /** Added by graphql-js 17, as is the next. */
  readonly getAbortSignal: () => AbortSignal
  readonly getAsyncHelpers: () => typeof asyncHelpers
}

/** They keep hooks waiting that are called when all work is done; of these we have none. */
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
