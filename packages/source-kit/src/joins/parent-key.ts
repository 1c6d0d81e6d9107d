import { after, type MaybePromise } from '@vinyasa/core'
import { getNullableType, isLeafType, type GraphQLLeafType, type GraphQLResolveInfo } from 'graphql'
import { memberReader } from '../own/members.ts'
import { fieldOf } from '../own/names.ts'
import { asOwn } from '../own/stand-ins.ts'
import { FallBack } from '../plan/refusals.ts'

/** Reads the key of a join from a parent object. */
export type ReadParent = (
  parent: unknown,
  context: unknown,
  info: GraphQLResolveInfo,
) => MaybePromise<unknown>

/**
 * Returns whether a value can be the key of a join. Null and the empty string are not keys; gRPC backends write the
 * empty string for a missing value.
 */
export function isJoinKey(value: unknown): boolean {
  return value !== null && value !== undefined && value !== ''
}

/**
 * Reads a field of the parent through its resolver and scalar. The parent can be an object of another source with
 * other names and representations.
 */
export function parentField(name: string): ReadParent {
  const readMember = memberReader(name)
  return (parent, context, info) => {
    const field = fieldOf(info.parentType, name)
    if (!field) throw new Error(`The join key field "${info.parentType.name}.${name}" does not exist.`)
    const { resolve = readMember, type: returnType } = asOwn(field)
    const type = getNullableType(returnType)
    // Resolvers of others go by what they are told of the field, graphql's own among them.
    const ofField = { ...info, fieldName: name, returnType }
    return after(resolve(parent, {}, context, ofField) as unknown, (value) =>
      value !== null && value !== undefined && isLeafType(type) ? type.serialize(value) : value,
    )
  }
}

/** Reads an own property of the parent directly. Use it if parents are objects of the same source. */
export function parentMember(name: string): ReadParent {
  return (parent) =>
    typeof parent === 'object' && parent !== null && Object.hasOwn(parent, name)
      ? (parent as Readonly<Record<string, unknown>>)[name]
      : undefined
}

/**
 * Returns the key that {@link parentField} returns for a field with this value, or null if it is not a key. Plans use
 * it.
 * @throws FallBack if the key is not a scalar
 */
export function serializedKey(type: GraphQLLeafType, value: unknown): unknown {
  if (!isJoinKey(value)) return null
  try {
    const key: unknown = typeof value === 'object' ? value : type.serialize(value)
    if (typeof key !== 'object') return isJoinKey(key) ? key : null
  } catch {
    // Ordinary execution words it.
  }
  throw new FallBack('the key of a join cannot be serialized as a scalar')
}
