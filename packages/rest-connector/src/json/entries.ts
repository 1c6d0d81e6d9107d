import { isRecord } from '@vinyasa/core'
import { isObjectType, isNonNullType, type GraphQLOutputType } from 'graphql'

/** The extension of an object type that is an entry of a JSON object. */
export const ENTRY = 'restEntry'

/** Whether a list of this type is a JSON object: its items are the object's members. */
export function isEntry(item: GraphQLOutputType): boolean {
  const type = isNonNullType(item) ? item.ofType : item
  return isObjectType(type) && type.extensions[ENTRY] === true
}

/** The members of a JSON object as a list; anything else as it is. */
export function entriesOf(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.entries(value).map(([key, member]) => ({ key, value: member }))
}
