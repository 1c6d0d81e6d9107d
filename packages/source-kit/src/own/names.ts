import type { GraphQLField, GraphQLObjectType } from 'graphql'
import { memberOf } from './members.ts'

type Field = GraphQLField<unknown, unknown>

/** Returns the source's own name of a field, which clients can see under another name. */
export function ownNameOf({ name, extensions }: Pick<Field, 'extensions' | 'name'>): string {
  const own = extensions['ownName']
  return typeof own === 'string' ? own : name
}

/**
 * Returns a field of a type. It also finds fields that are hidden from clients, because they can be keys of joins.
 */
export function fieldOf(type: GraphQLObjectType, name: string): Field | undefined {
  const fields = type.getFields()
  if (Object.hasOwn(fields, name)) return fields[name]
  for (const hidden of hiddenOf(type.extensions)) {
    const found = hidden.getFields()
    if (Object.hasOwn(found, name)) return found[name]
  }
  return undefined
}

/** Returns what a type's `extensions.hidden` holds: types of the fields that clients do not see. */
export function hiddenOf(extensions: Readonly<Record<string, unknown>>): readonly GraphQLObjectType[] {
  const { hidden } = extensions
  return Array.isArray(hidden) ? (hidden as readonly GraphQLObjectType[]) : []
}

/** Returns the property of an object that contains the value of a field. */
export function memberIn(type: GraphQLObjectType, name: string): string {
  const field = fieldOf(type, name)
  // A field that another plugin has wrapped still has its own name.
  return field ? (memberOf(field) ?? ownNameOf(field)) : name
}
