import type { GraphQLField, GraphQLObjectType } from 'graphql'
import { memberOf } from './members.ts'

type Field = GraphQLField<unknown, unknown>

/** Returns the name that a source itself has for a field which clients may know by another. */
export function ownNameOf({ name, extensions }: Pick<Field, 'extensions' | 'name'>): string {
  const own = extensions['ownName']
  return typeof own === 'string' ? own : name
}

/** A field of a type, also one that is hidden from clients: what is joined to the type may be joined by it. */
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

/** The member of an object that holds what a field of its type shows, for those who read it there. */
export function memberIn(type: GraphQLObjectType, name: string): string {
  const field = fieldOf(type, name)
  // A field that another plugin has wrapped still has its own name.
  return field ? (memberOf(field) ?? ownNameOf(field)) : name
}
