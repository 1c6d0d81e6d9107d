import {
  getArgumentValues,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  isNonNullType,
  locatedError,
  responsePathAsArray,
  type SelectionSetNode,
} from 'graphql'
import type { FieldGroup } from '../collect-fields.ts'
import type { Data } from '../parts.ts'
import type { DeliveryGroup, ObjectPlace, Path } from './delivery-group.ts'
import type { MaybePromise } from './maybe-promise.ts'

export type ExecuteObject = (
  group: DeliveryGroup,
  place: ObjectPlace,
  selectionSets: readonly SelectionSetNode[],
) => MaybePromise<Data>

/** One field of one object, from the resolver to the completed value. */
export class FieldCall {
  readonly group: DeliveryGroup
  readonly place: ObjectPlace
  readonly field: FieldGroup
  readonly definition: GraphQLField<unknown, unknown>
  readonly path: Path
  /** Executes the fields of an object that the field leads to. */
  readonly executeObject: ExecuteObject
  #info: GraphQLResolveInfo | undefined

  constructor(
    group: DeliveryGroup,
    place: ObjectPlace,
    field: FieldGroup,
    definition: GraphQLField<unknown, unknown>,
    executeObject: ExecuteObject,
  ) {
    this.group = group
    this.place = place
    this.field = field
    this.definition = definition
    this.executeObject = executeObject
    this.path = { prev: place.path, key: field.key, typename: place.type.name }
  }

  /** Most fields never need it: it is made when it is asked for. */
  get info(): GraphQLResolveInfo {
    if (this.#info) return this.#info
    const { operation, signal } = this.group
    const info = {
      fieldName: this.definition.name,
      fieldNodes: this.field.nodes,
      returnType: this.definition.type,
      parentType: this.place.type,
      path: this.path,
      schema: operation.schema,
      fragments: operation.fragments,
      rootValue: operation.rootValue,
      operation: operation.definition,
      variableValues: operation.variableValues,
      // Where Yoga's own executor has it.
      signal,
    }
    return (this.#info = info)
  }

  /** What the resolver gives, or the property of the source. */
  resolve(contextValue: unknown): unknown {
    const { operation, isClosed } = this.group
    const { source } = this.place
    if (isClosed) throw new Error('The answer is no longer wanted.')
    const resolve = this.definition.resolve ?? operation.fieldResolver
    if (resolve) return resolve(source, this.#args(), contextValue, this.info)
    const value = propertyOf(source, this.definition.name)
    return typeof value === 'function' ? value.call(source, this.#args(), contextValue, this.info) : value
  }

  #args(): Record<string, unknown> {
    const { definition, field, group } = this
    if (definition.args.length === 0) return {}
    return getArgumentValues(definition, field.nodes[0], group.operation.variableValues)
  }

  /** A field error stops at the nearest place that may be null: here, or it is thrown on. */
  fail(error: unknown, type: GraphQLOutputType, path: Path): null {
    const located = locatedError(error, this.field.nodes, responsePathAsArray(path))
    if (isNonNullType(type)) throw located
    this.group.errors.push(located)
    return null
  }
}

export function propertyOf(source: unknown, name: string): unknown {
  if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
  return (source as Data)[name]
}
