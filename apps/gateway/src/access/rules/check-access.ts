import { isInterfaceType, isObjectType, isSpecifiedScalarType, type GraphQLSchema } from 'graphql'
import type { AccessConfig } from '../../config/access-types.ts'
import { ConfigError } from '../../errors.ts'
import { suggestFor } from '../../schema/coordinates.ts'

/** Throws {@link ConfigError} for a rule on what the schema does not have, or by a policy without a meaning. */
export function checkAccess(schema: GraphQLSchema, { fields = {}, policies = {} }: AccessConfig = {}): void {
  for (const [coordinate, rule] of Object.entries(fields)) {
    const path = `access.fields["${coordinate}"]`
    if (!isDefined(schema, coordinate))
      throw new ConfigError(
        `${path}: the schema has no such field or type${suggestFor(schema, coordinate) || '; write "Type.field" or "Type", for example "Query.orders"'}`,
      )
    const unknown = (rule.policies ?? []).flat().find((name) => !Object.hasOwn(policies, name))
    if (unknown !== undefined)
      throw new ConfigError(`${path}: no policy "${unknown}"; say in access.policies what it stands for`)
  }
}

function isDefined(schema: GraphQLSchema, coordinate: string): boolean {
  const [typeName = '', fieldName, ...more] = coordinate.split('.')
  const type = schema.getType(typeName)
  if (!type || isSpecifiedScalarType(type) || more.length > 0) return false
  if (fieldName === undefined) return true
  return (isObjectType(type) || isInterfaceType(type)) && Object.hasOwn(type.getFields(), fieldName)
}
