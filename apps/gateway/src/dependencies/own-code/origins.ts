import type { IResolvers } from '@graphql-tools/utils'
import { isObjectType, type GraphQLField, type GraphQLSchema } from 'graphql'
import { isFieldMap } from './recorded-resolvers.ts'

/**
 * What code of the config resolves comes with no parent, also where a source had that field: it loses the source's mark, by
 * which its answers would depend on the parent alone. Mutations keep theirs: their sources announce them.
 */
export function forgetOrigins(schema: GraphQLSchema, resolvers: IResolvers): void {
  for (const [typeName, given] of Object.entries(resolvers)) {
    const type = schema.getType(typeName)
    if (!isObjectType(type) || type === schema.getMutationType() || !isFieldMap(given)) continue
    for (const [name, member] of Object.entries(given)) {
      const field = type.getFields()[name]
      if (field && isResolver(member)) forget(field)
    }
  }
}

function forget(field: GraphQLField<unknown, unknown>): void {
  const { origin: _, ...others } = field.extensions
  field.extensions = others
}

function isResolver(member: unknown): boolean {
  if (typeof member === 'function') return true
  return typeof member === 'object' && member !== null && 'resolve' in member
}
