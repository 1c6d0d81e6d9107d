import { isObjectType, type GraphQLSchema } from 'graphql'

/**
 * The one field that identifies the entities of a type: the first of `idFields` that it has. Never another one: an
 * entity known by two ids would be two. Undefined for types that are no entities.
 */
export type IdFieldOf = (typeName: string) => string | undefined

export function createIdFields(schema: GraphQLSchema, idFields: readonly string[]): IdFieldOf {
  const known = new Map<string, string | undefined>()
  return (typeName) => {
    if (known.has(typeName)) return known.get(typeName)
    const type = schema.getType(typeName)
    const name = isObjectType(type) ? idFields.find((field) => field in type.getFields()) : undefined
    known.set(typeName, name)
    return name
  }
}
