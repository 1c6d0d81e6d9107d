import {
  coerceInputValue,
  isInputType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'

export type Variables = Readonly<Record<string, unknown>>

/** The variables of an operation as arguments take them; undefined where one is wrong, which ordinary execution words. */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Variables,
): Variables | undefined {
  const coerced: Record<string, unknown> = {}
  for (const { variable, type: typeNode, defaultValue } of variableDefinitions) {
    const name = variable.name.value
    const type = typeFromAST(schema, typeNode)
    if (!isInputType(type)) return undefined
    if (!Object.hasOwn(given, name)) {
      if (defaultValue) coerced[name] = valueFromAST(defaultValue, type)
      else if (isNonNullType(type)) return undefined
      continue
    }
    try {
      coerced[name] = coerceInputValue(given[name], type)
    } catch {
      return undefined
    }
    if (coerced[name] === undefined) return undefined
  }
  return coerced
}
