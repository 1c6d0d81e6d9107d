import { nearestNames } from '@vinyasa/core'
import {
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'

/** The names that root types have here. */
export const ROOT_NAMES = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const

export function isRootName(name: string): boolean {
  return Object.values<string>(ROOT_NAMES).includes(name)
}

/** All types of a schema, and the fields of its objects and interfaces, by their coordinates. */
export function* definitionsIn(
  schema: GraphQLSchema,
): Iterable<readonly [coordinate: string, definition: GraphQLNamedType | GraphQLField<unknown, unknown>]> {
  for (const type of Object.values(schema.getTypeMap())) {
    yield [type.name, type]
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field]
  }
}

/** The field of an object type or interface at `Type.field`. */
export function fieldAt(
  schema: GraphQLSchema,
  coordinate: string,
): GraphQLField<unknown, unknown> | undefined {
  const dot = coordinate.indexOf('.')
  const type = schema.getType(coordinate.slice(0, dot))
  if (!isObjectType(type) && !isInterfaceType(type)) return undefined
  const fields = type.getFields()
  const name = coordinate.slice(dot + 1)
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** The field of an input object at `Type.field`. */
export function inputFieldAt(schema: GraphQLSchema, coordinate: string): GraphQLInputField | undefined {
  const [name = '', member = ''] = coordinate.split('.')
  const type = schema.getType(name)
  return isInputObjectType(type) ? type.getFields()[member] : undefined
}

/** Whether of the types that a statement names the schema has none. It may name one twice, as its source and as clients call it. */
export function areUnknown(schema: GraphQLSchema, types: readonly string[]): boolean {
  return types.length > 0 && !types.some((name) => name === '*' || schema.getType(name))
}

/** What may have been meant by a coordinate that a schema does not have: `; did you mean "User.name"?`, or nothing. */
export function suggestFor(schema: GraphQLSchema, coordinate: string): string {
  const isField = coordinate.includes('.')
  const known = [...definitionsIn(schema)]
    .map(([name]) => name)
    .filter((name) => !name.startsWith('__') && name.includes('.') === isField)
  return didYouMean(coordinate, known)
}

/** Which of the known names may have been meant: `; did you mean "a" or "b"?`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearestNames(name, known)
  return near.length === 0 ? '' : `; did you mean "${near.join('" or "')}"?`
}
