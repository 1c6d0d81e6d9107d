import type { IResolvers } from '@graphql-tools/utils'
import { isObjectType, type GraphQLSchema } from 'graphql'
import { isFieldMap } from './recorded-resolvers.ts'

/**
 * Takes the mark of a source from fields that code of the config resolves: their values do not come with a parent, on which
 * alone the mark would let answers depend. Mutations keep theirs: their sources announce them.
 */
export function forgetOrigins(schema: GraphQLSchema, resolvers: IResolvers): void {
  for (const [typeName, given] of Object.entries(resolvers)) {
    const type = schema.getType(typeName)
    if (!isObjectType(type) || type === schema.getMutationType() || !isFieldMap(given)) continue
    for (const [name, member] of Object.entries(given)) {
      const field = type.getFields()[name]
      if (!field || !isResolver(member)) continue
      const { origin: _, ...others } = field.extensions
      field.extensions = others
    }
  }
}

function isResolver(member: unknown): boolean {
  if (typeof member === 'function') return true
  return typeof member === 'object' && member !== null && 'resolve' in member
}
