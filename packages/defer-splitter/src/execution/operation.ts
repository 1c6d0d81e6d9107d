import {
  defaultTypeResolver,
  type ExecutionArgs,
  type FragmentDefinitionNode,
  getNullableType,
  getVariableValues,
  GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type GraphQLTypeResolver,
  isLeafType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql'
import {
  createFieldCollector,
  type FieldCollector,
  type FieldGroup,
  getFragments,
  getOperation,
} from '../collect-fields.ts'

/** What stays the same during the execution of one operation. */
export interface Operation {
  readonly schema: GraphQLSchema
  readonly rootType: GraphQLObjectType
  readonly rootValue: unknown
  readonly contextValue: unknown
  readonly definition: OperationDefinitionNode
  readonly collector: FieldCollector
  readonly fragments: GraphQLResolveInfo['fragments']
  /** As `getArgumentValues` of the installed graphql takes them: plain in 16, with their sources in 17. */
  readonly variableValues: GraphQLResolveInfo['variableValues']
  /** Undefined: properties and methods of the source, as graphql's default resolver has it. */
  readonly fieldResolver: GraphQLFieldResolver<unknown, unknown> | undefined
  readonly typeResolver: GraphQLTypeResolver<unknown, unknown>
  planOf(type: GraphQLObjectType, field: FieldGroup): FieldPlan | undefined
}

/** What is known of a field before any of its values. */
export interface FieldPlan {
  readonly definition: GraphQLField<unknown, unknown>
  /** The type of a leaf that no resolver stands before. */
  readonly plainLeaf: GraphQLLeafType | undefined
}

/** The operation ready to be executed, or the errors for which it cannot be. */
export function prepareOperation(args: ExecutionArgs): Operation | readonly GraphQLError[] {
  const { schema, document, operationName, rootValue, contextValue, fieldResolver, typeResolver } = args
  const definition = getOperation(document, operationName)
  if (!definition) return [badRequest('The request does not name one of the operations of the document.')]
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
  const fragments = getFragments(document)
  const { variableValues, plainVariables } = variablesOf(coerced)
  const plans = new Map<FieldGroup, FieldPlan | undefined>()

  function createPlan(type: GraphQLObjectType, field: FieldGroup): FieldPlan | undefined {
    const definition = fieldOf(schema, type, field.nodes[0].name.value)
    if (!definition) return undefined
    const nullable = getNullableType(definition.type)
    const isPlain = !definition.resolve && !fieldResolver
    return { definition, plainLeaf: isPlain && isLeafType(nullable) ? nullable : undefined }
  }

  return {
    schema,
    rootType,
    rootValue,
    contextValue,
    definition,
    collector: createFieldCollector({ schema, fragments, variables: plainVariables }),
    fragments: Object.fromEntries<FragmentDefinitionNode>(fragments),
    variableValues,
    fieldResolver: fieldResolver ?? undefined,
    typeResolver: typeResolver ?? defaultTypeResolver,
    // A field group belongs to one type.
    planOf(type, field) {
      let plan = plans.get(field)
      if (!plan) plans.set(field, (plan = createPlan(type, field)))
      return plan
    },
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

function fieldOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name.startsWith('__')) {
    if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef
    if (type === schema.getQueryType()) {
      if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
      if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef
    }
  }
  return type.getFields()[name]
}
