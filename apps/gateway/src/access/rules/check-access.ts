import type { Finding } from '@vinyasa/core'
import {
  getNamedType,
  isInputObjectType,
  isLeafType,
  isObjectType,
  isSpecifiedScalarType,
  type GraphQLSchema,
} from 'graphql'
import type { AccessConfig, AccessRule } from '../access-types.ts'
import { ConfigError, findingAt } from '../../errors.ts'
import { definitionsIn, fieldAt, suggestFor } from '../../coordinates.ts'

/**
 * Throws {@link ConfigError} for a rule on what the schema does not have or that could stand before nothing, and for one
 * whose alternatives are none, or name a policy without a meaning: of the config, and of directives in SDL.
 */
export function checkAccess(schema: GraphQLSchema, { fields = {}, policies = {} }: AccessConfig = {}): void {
  const findings: Finding[] = []
  for (const [coordinate, rule] of Object.entries(fields)) {
    const path = ['access', 'fields', coordinate]
    for (const text of [placeMistake(schema, coordinate) ?? ruleMistakes(rule, policies)].flat())
      findings.push(findingAt(path, text))
  }
  for (const [coordinate, { extensions }] of definitionsIn(schema))
    for (const text of ruleMistakes(extensions['access'], policies))
      findings.push({ message: `the directive on ${coordinate}: ${text}` })
  if (findings.length > 0) throw new ConfigError(findings)
}

/** What is wrong with where a rule stands. */
function placeMistake(schema: GraphQLSchema, coordinate: string): string | undefined {
  if (!isDefined(schema, coordinate))
    return `expected a field or type of the schema, except built-in types and input fields${suggestFor(schema, coordinate) || '; write "Type.field" or "Type", for example "Query.orders"'}`
  if (isGiven(schema, coordinate)) return undefined
  return `no field returns ${coordinate}, so the rule would have no effect; put the rule on the fields that take ${coordinate} as an argument`
}

function ruleMistakes(
  rule: AccessRule | unknown,
  policies: NonNullable<AccessConfig['policies']>,
): readonly string[] {
  const { scopes, policies: named } = Object(rule) as AccessRule
  const isEmpty = [scopes, named].some(
    (lists) => lists && (lists.length === 0 || lists.some((all) => all.length === 0)),
  )
  const unknown = (named ?? []).flat().filter((name) => !Object.hasOwn(policies, name))
  return [
    ...(isEmpty
      ? [
          'a list of scopes or policies is empty and never matches a caller; add a scope or policy, or remove the list',
        ]
      : []),
    ...unknown.map((name) => `the policy "${name}" does not exist; define it in access.policies`),
  ]
}

function isDefined(schema: GraphQLSchema, coordinate: string): boolean {
  if (coordinate.startsWith('__')) return false
  if (coordinate.includes('.')) return fieldAt(schema, coordinate) !== undefined
  const type = schema.getType(coordinate)
  return type !== undefined && !isSpecifiedScalarType(type)
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
