import {
  defaultTypeResolver,
  type ExecutionArgs,
  getVariableValues,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type GraphQLTypeResolver,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import { type AnswerLimits, AnswerSize, answerSizeOf } from '@vinyasa/core/documents'
import type { KnownDocument } from '../document/document.ts'
import type { Selections } from '../document/selections.ts'

/** The data of an operation that is constant during its execution. */
export interface Operation {
  readonly schema: GraphQLSchema
  readonly rootType: GraphQLObjectType
  readonly rootValue: unknown
  readonly contextValue: unknown
  readonly definition: OperationDefinitionNode
  readonly isMutation: boolean
  readonly selections: Selections
  readonly fragments: GraphQLResolveInfo['fragments']
  /** The variables for `getArgumentValues`: plain in graphql 16, with their sources in graphql 17. */
  readonly variableValues: GraphQLResolveInfo['variableValues']
  /** `undefined` means graphql's default resolver: properties and methods of the source. */
  readonly fieldResolver: GraphQLFieldResolver<unknown, unknown> | undefined
  readonly typeResolver: GraphQLTypeResolver<unknown, unknown>
  /** The size of all parts of the response. */
  readonly size: AnswerSize
}

/** Returns the prepared operation, or the errors that prevent its execution. */
export function prepareOperation(
  args: ExecutionArgs,
  document: KnownDocument,
  limits: AnswerLimits,
): Operation | readonly GraphQLError[] {
  const { schema, operationName, rootValue, contextValue, fieldResolver, typeResolver } = args
  const known = document.operation(operationName)
  if (!known)
    return [
      badRequest(
        'The operation to execute is unknown. The document must have an operation with the name in operationName, or exactly one operation if operationName is not set.',
      ),
    ]
  const { definition, fragments } = known
  const rootType = schema.getRootType(definition.operation)
  if (!rootType) return [badRequest(`The schema has no ${definition.operation} type.`)]
  const coerced = getVariableValues(schema, definition.variableDefinitions ?? [], args.variableValues ?? {}, {
    maxErrors: 50,
  })
  if (coerced.errors) {
    return coerced.errors.map(
      ({ message, nodes, extensions }) =>
        new GraphQLError(message, { nodes, extensions: { ...extensions, http: { status: 400 } } }),
    )
  }
  const { variableValues, plainVariables } = variablesOf(coerced)
  return {
    schema,
    rootType,
    rootValue,
    contextValue,
    definition,
    isMutation: definition.operation === OperationTypeNode.MUTATION,
    selections: known.selections(schema, plainVariables),
    fragments,
    variableValues,
    fieldResolver: fieldResolver ?? undefined,
    typeResolver: typeResolver ?? defaultTypeResolver,
    // Sources count everything that is executed with one context.
    size: answerSizeOf(contextValue) ?? new AnswerSize(limits),
  }
}

function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, {
    extensions: { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } },
  })
}

/** graphql 16 returns `coerced`, and graphql 17 returns `variableValues`, which contains `coerced`. */
function variablesOf(result: object): {
  readonly variableValues: GraphQLResolveInfo['variableValues']
  readonly plainVariables: Readonly<Record<string, unknown>>
} {
  if ('variableValues' in result) {
    const variableValues = result.variableValues as { readonly coerced: Record<string, unknown> }
    return {
      variableValues: variableValues as unknown as GraphQLResolveInfo['variableValues'],
      plainVariables: variableValues.coerced,
    }
  }
  const { coerced } = result as { readonly coerced: Record<string, unknown> }
  return { variableValues: coerced, plainVariables: coerced }
}
