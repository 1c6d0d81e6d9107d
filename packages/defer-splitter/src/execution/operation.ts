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
import { type AnswerLimits, AnswerSize, answerSizeOf } from '@vinyasa/core'
import type { KnownDocument } from '../document/document-cache.ts'
import type { Selections } from '../document/selections.ts'

/** An operation that is executed: all that stays the same until its end. */
export interface Operation {
  readonly schema: GraphQLSchema
  readonly rootType: GraphQLObjectType
  readonly rootValue: unknown
  readonly contextValue: unknown
  readonly definition: OperationDefinitionNode
  readonly isMutation: boolean
  readonly selections: Selections
  readonly fragments: GraphQLResolveInfo['fragments']
  /** The variables that `getArgumentValues` takes: plain in graphql 16, with their sources in 17. */
  readonly variableValues: GraphQLResolveInfo['variableValues']
  /** Undefined: properties and methods of the source, as graphql's default resolver has it. */
  readonly fieldResolver: GraphQLFieldResolver<unknown, unknown> | undefined
  readonly typeResolver: GraphQLTypeResolver<unknown, unknown>
  /** Size of what has been made of the answer, in all of its parts. */
  readonly size: AnswerSize
}

/** The operation ready to be executed, or the errors for which it cannot be. */
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
    // Sources count all that is executed with a context.
    size: answerSizeOf(contextValue) ?? new AnswerSize(limits),
  }
}

function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, {
    extensions: { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } },
  })
}

/** graphql 16 answers `coerced`, graphql 17 `variableValues`, which holds `coerced` and more. */
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
