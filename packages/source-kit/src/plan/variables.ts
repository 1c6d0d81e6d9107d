import { getArgumentValues } from '@graphql-tools/utils'
import {
  getVariableValues,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'

/** The variables of an operation, as arguments take them. */
export type Variables = Readonly<Record<string, unknown>>

/** graphql 17 calls them `variableValues`, and says where each came from. */
interface Coerced {
  readonly coerced?: Variables
  readonly variableValues?: { readonly coerced: Variables }
}

/** Undefined where a variable is wrong, which ordinary execution words. */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Variables,
): Variables | undefined {
  const { coerced, variableValues }: Coerced = getVariableValues(schema, variableDefinitions, given)
  return coerced ?? variableValues?.coerced
}

/** The arguments of a field. @throws GraphQLError where one is wrong */
export function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Variables,
): Readonly<Record<string, unknown>> {
  return getArgumentValues(field, node, variables)
}
