import { getArgumentValues, type GraphQLResolveInfo, locatedError, responsePathAsArray } from 'graphql'
import type { Data } from '../parts.ts'
import type { DeliveryGroup, ObjectPlace, Path } from './delivery-group.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { PlannedField, Selections } from './selections.ts'
import type { TypeShape } from './type-shape.ts'

export type ExecuteObject = (
  group: DeliveryGroup,
  place: ObjectPlace,
  selections: Selections,
) => MaybePromise<Data>

/** One field of one object, from the resolver to the completed value. */
export class FieldCall {
  readonly group: DeliveryGroup
  readonly place: ObjectPlace
  readonly field: PlannedField
  readonly path: Path
  /** Executes the fields of an object that the field leads to. */
  readonly executeObject: ExecuteObject
  #info: GraphQLResolveInfo | undefined

  constructor(group: DeliveryGroup, place: ObjectPlace, field: PlannedField, executeObject: ExecuteObject) {
    this.group = group
    this.place = place
    this.field = field
    this.executeObject = executeObject
    this.path = { prev: place.path, key: field.key, typename: place.type.name }
  }

  /** Most fields never need it: it is made when it is asked for. */
  get info(): GraphQLResolveInfo {
    return (this.#info ??= new ResolveInfo(this))
  }

  /** What the resolver gives, or the property of the source. */
  resolve(contextValue: unknown): unknown {
    const { group, field, place } = this
    if (group.isClosed) throw new Error('The answer is no longer wanted.')
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
  fail(error: unknown, { isNonNull }: TypeShape, path: Path): null {
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

class ResolveInfo implements GraphQLResolveInfo {
  readonly fieldName: GraphQLResolveInfo['fieldName']
  readonly fieldNodes: GraphQLResolveInfo['fieldNodes']
  readonly returnType: GraphQLResolveInfo['returnType']
  readonly parentType: GraphQLResolveInfo['parentType']
  readonly path: GraphQLResolveInfo['path']
  readonly schema: GraphQLResolveInfo['schema']
  readonly fragments: GraphQLResolveInfo['fragments']
  readonly rootValue: GraphQLResolveInfo['rootValue']
  readonly operation: GraphQLResolveInfo['operation']
  readonly variableValues: GraphQLResolveInfo['variableValues']
  readonly #group: DeliveryGroup

  constructor({ group, place, field, path }: FieldCall) {
    const { operation } = group
    this.fieldName = field.definition.name
    this.fieldNodes = field.nodes
    this.returnType = field.definition.type
    this.parentType = place.type
    this.path = path
    this.schema = operation.schema
    this.fragments = operation.fragments
    this.rootValue = operation.rootValue
    this.operation = operation.definition
    this.variableValues = operation.variableValues
    this.#group = group
  }

  /** Where Yoga's own executor has it. */
  get signal(): AbortSignal | undefined {
    return this.#group.signal
  }
}

export function propertyOf(source: unknown, name: string): unknown {
  if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
  return (source as Data)[name]
}
