import {
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isSpecifiedScalarType,
  type GraphQLSchema,
} from 'graphql'
import type { AccessConfig, AccessRule } from '../access-types.ts'
import { ConfigError } from '../../errors.ts'
import { definitionsIn, suggestFor } from '../../coordinates.ts'

/**
 * Throws {@link ConfigError} for a rule on what the schema does not have or that could stand before nothing, and for one
 * whose alternatives are none, or name a policy without a meaning: of the config, and of directives in SDL.
 */
export function checkAccess(schema: GraphQLSchema, { fields = {}, policies = {} }: AccessConfig = {}): void {
  for (const [coordinate, rule] of Object.entries(fields)) {
    const path = `access.fields["${coordinate}"]`
    if (!isDefined(schema, coordinate))
      throw new ConfigError(
        `${path}: the schema has no such field or type${suggestFor(schema, coordinate) || '; write "Type.field" or "Type", for example "Query.orders"'}`,
      )
    if (!isGiven(schema, coordinate))
      throw new ConfigError(
        `${path}: no field gives a ${coordinate}, so that nothing would be refused; put the rule on the fields that take it`,
      )
    checkRule(path, rule, policies)
  }
  for (const [coordinate, { extensions }] of definitionsIn(schema))
    checkRule(`the directive on ${coordinate}`, extensions['access'], policies)
}

function checkRule(
  path: string,
  rule: AccessRule | unknown,
  policies: NonNullable<AccessConfig['policies']>,
): void {
  const { scopes, policies: named } = Object(rule) as AccessRule
  for (const lists of [scopes, named]) {
    if (lists && (lists.length === 0 || lists.some((all) => all.length === 0)))
      throw new ConfigError(
        `${path}: a list of alternatives is empty, which nobody could fulfil; name a scope or policy in it, or take the rule away`,
      )
  }
  const unknown = (named ?? []).flat().find((name) => !Object.hasOwn(policies, name))
  if (unknown !== undefined)
    throw new ConfigError(`${path}: no policy "${unknown}"; say in access.policies what it stands for`)
}

function isDefined(schema: GraphQLSchema, coordinate: string): boolean {
  const [typeName = '', fieldName, ...more] = coordinate.split('.')
  const type = schema.getType(typeName)
  if (!type || isSpecifiedScalarType(type) || typeName.startsWith('__') || more.length > 0) return false
  if (fieldName === undefined) return true
  return (isObjectType(type) || isInterfaceType(type)) && Object.hasOwn(type.getFields(), fieldName)
}

/** Types of arguments are defined too, and stand before nothing. */
function isGiven(schema: GraphQLSchema, coordinate: string): boolean {
  const type = schema.getType(coordinate)
  if (isInputObjectType(type)) return false
  if (!isLeafType(type)) return true
  return Object.values(schema.getTypeMap()).some(
    (parent) =>
      isObjectType(parent) &&
      Object.values(parent.getFields()).some((field) => getNamedType(field.type) === type),
  )
}
