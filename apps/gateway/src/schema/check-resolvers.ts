import type { Finding } from '@vinyasa/base'
import { type GraphQLSchema, isInterfaceType, isObjectType } from 'graphql'
import type { IResolvers } from '@graphql-tools/utils'
import { suggestFor } from '../coordinates.ts'
import { ConfigError, findingAt } from '../errors.ts'

/** Throws {@link ConfigError} with each type and field that has a resolver and is not there. */
export function checkResolvers(schema: GraphQLSchema, resolvers: IResolvers): void {
  const findings = Object.entries(resolvers).flatMap(([name, given]): Finding[] => {
    const type = schema.getType(name)
    if (!type)
      return [
        findingAt(
          ['resolvers', name],
          `the schema has no such type; define it in typeDefs, or remove this resolver${suggestFor(schema, name)}`,
        ),
      ]
    if (!(isObjectType(type) || isInterfaceType(type)) || typeof given !== 'object' || given === null)
      return []
    const fields = type.getFields()
    return Object.keys(given).flatMap((field) => {
      if (field.startsWith('__') || Object.hasOwn(fields, field)) return []
      const near = suggestFor(schema, `${name}.${field}`)
      const text = `${name} has no such field; define it in typeDefs, or remove this resolver${near}`
      return [findingAt(['resolvers', name, field], text)]
    })
  })
  if (findings.length > 0) throw new ConfigError(findings)
}
