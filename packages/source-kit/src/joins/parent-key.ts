import { after, type MaybePromise } from '@vinyasa/base'
import { getNullableType, isLeafType, type GraphQLLeafType, type GraphQLResolveInfo } from 'graphql'
import { memberReader } from '../own/members.ts'
import { fieldOf } from '../own/names.ts'
import { asOwn } from '../own/stand-ins.ts'
import { FallBack } from '../plan/refusals.ts'

/** Reads off a parent what a join is made with. */
export type ReadParent = (
  parent: unknown,
  context: unknown,
  info: GraphQLResolveInfo,
) => MaybePromise<unknown>

/** Whether a value can be the key of a join: an empty text is none, as gRPC backends write it for "nothing". */
export function isJoinKey(value: unknown): boolean {
  return value !== null && value !== undefined && value !== ''
}

/**
 * A field of the parent as a client sees it: through its own resolver and scalar, because the parent may be another
 * source's object, with names and representations of its own.
 */
export function parentField(name: string): ReadParent {
  const readMember = memberReader(name)
  return (parent, context, info) => {
    const field = fieldOf(info.parentType, name)
    if (!field) throw new Error(`Type ${info.parentType.name} has no field "${name}", which a join reads.`)
    const { resolve = readMember, type: returnType } = asOwn(field)
    const type = getNullableType(returnType)
    // Resolvers of others go by what they are told of the field, graphql's own among them.
    const ofField = { ...info, fieldName: name, returnType }
    return after(resolve(parent, {}, context, ofField) as unknown, (value) =>
      value !== null && value !== undefined && isLeafType(type) ? type.serialize(value) : value,
    )
  }
}

/** A member of the parent as it is, for parents that are the source's own objects. */
export function parentMember(name: string): ReadParent {
  return (parent) =>
    typeof parent === 'object' && parent !== null && Object.hasOwn(parent, name)
      ? (parent as Readonly<Record<string, unknown>>)[name]
      : undefined
}

/**
 * Returns what {@link parentField} gives for a field that shows `value`, for plans; null: it is no key.
 * @throws FallBack
 */
export function serializedKey(type: GraphQLLeafType, value: unknown): unknown {
  if (!isJoinKey(value)) return null
  try {
    const key: unknown = typeof value === 'object' ? value : type.serialize(value)
    if (typeof key !== 'object') return isJoinKey(key) ? key : null
  } catch {
    // Ordinary execution words it.
  }
  throw new FallBack('a key is no scalar')
}
