import { getArgumentValues } from '@graphql-tools/utils'
import {
  getVariableValues,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isNonNullType,
  Kind,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql'
import { ownArgumentsOf } from '../own/stand-ins.ts'

/** Variables of an operation. */
export type Variables = Readonly<Record<string, unknown>>

/** The variables that a request gives, coerced; undefined where one is wrong, which ordinary execution words. */
export type CoerceVariables = (given: Variables) => Variables | undefined

/**
 * Returns the arguments of a field for the variables of an operation.
 * @throws GraphQLError if an argument is invalid
 */
export type ArgumentsOf = (variables: Variables) => Record<string, unknown>

/** graphql 17 calls them `variableValues`, and says where each came from. */
interface Coerced {
  readonly coerced?: Variables
  readonly variableValues?: { readonly coerced: Variables }
}

type IsCoerced = (value: unknown) => boolean

/** Values that the scalars of GraphQL leave as they are. */
const COERCED = new Map<unknown, IsCoerced>([
  [GraphQLString, (value) => typeof value === 'string'],
  [GraphQLID, (value) => typeof value === 'string'],
  [GraphQLBoolean, (value) => typeof value === 'boolean'],
  [GraphQLInt, (value) => typeof value === 'number' && (value | 0) === value],
  [GraphQLFloat, (value) => typeof value === 'number' && Number.isFinite(value)],
])

interface PlainVariable {
  readonly name: string
  readonly isCoerced: IsCoerced
  /** It may neither be left out nor be null. */
  readonly isRequired: boolean
  readonly hasDefault: boolean
}

/** Made once for an operation. Values of GraphQL's own scalars are looked at; graphql is asked about all others. */
export function prepareVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): CoerceVariables {
  const plain: PlainVariable[] = []
  for (const { variable, type: node, defaultValue } of variableDefinitions) {
    const type = typeFromAST(schema, node as never) as unknown
    const isRequired = isNonNullType(type)
    const isCoerced = COERCED.get(isRequired ? (type.ofType as unknown) : type)
    if (isCoerced)
      plain.push({ name: variable.name.value, isCoerced, isRequired, hasDefault: defaultValue !== undefined })
  }

  function byGraphQL(given: Variables): Variables | undefined {
    const { coerced, variableValues }: Coerced = getVariableValues(schema, variableDefinitions, given)
    return coerced ?? variableValues?.coerced
  }

  if (plain.length < variableDefinitions.length) return byGraphQL
  return (given) => {
    const coerced: Record<string, unknown> = {}
    for (const { name, isCoerced, isRequired, hasDefault } of plain) {
      if (!Object.hasOwn(given, name)) {
        if (hasDefault || isRequired) return byGraphQL(given)
        continue
      }
      const value = given[name]
      if (value === null ? isRequired : !isCoerced(value)) return byGraphQL(given)
      coerced[name] = value
    }
    return coerced
  }
}

interface PlainArgument {
  readonly name: string
  readonly isRequired: boolean
  /** The operation's variable that holds its value. */
  readonly variable?: string
  readonly constant?: unknown
}

/**
 * Creates a function that computes the arguments of a field under the source's own names. Call it once per field of
 * an operation.
 */
export function prepareArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgumentsOf {
  const given = prepareGiven(field, node)
  const toOwn = ownArgumentsOf(field.resolve)
  return toOwn ? (variables) => toOwn(given(variables)) : given
}

/** Variables and plain constants are copied; graphql is asked about all others. */
function prepareGiven(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgumentsOf {
  const byGraphQL: ArgumentsOf = (variables) => getArgumentValues(field, node, variables)
  const plain: PlainArgument[] = []
  for (const definition of field.args) {
    const argument = plainArgument(definition, field, node)
    if (argument === undefined) return byGraphQL
    if (argument !== 'absent') plain.push(argument)
  }
  return (variables) => {
    const values: Record<string, unknown> = {}
    for (const { name, isRequired, variable, constant } of plain) {
      if (variable === undefined) {
        values[name] = constant
        continue
      }
      const value = variables[variable]
      if (!Object.hasOwn(variables, variable) || (isRequired && value == null)) return byGraphQL(variables)
      values[name] = value
    }
    return values
  }
}

/** Undefined: it is not plain. */
function plainArgument(
  definition: GraphQLArgument,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): PlainArgument | 'absent' | undefined {
  const { name, type, defaultValue } = definition
  const isRequired = isNonNullType(type)
  const value = node.arguments?.find((argument) => argument.name.value === name)?.value
  // graphql 17 has defaults in a place of their own.
  if (!value)
    return isRequired || defaultValue !== undefined || Object(definition).default ? undefined : 'absent'
  if (value.kind === Kind.VARIABLE) return { name, isRequired, variable: value.name.value }
  if (value.kind === Kind.LIST || value.kind === Kind.OBJECT) return undefined
  try {
    const constant: unknown = getArgumentValues({ ...field, args: [definition] }, node, {})[name]
    return constant !== null && typeof constant === 'object' ? undefined : { name, isRequired, constant }
  } catch {
    return undefined
  }
}
