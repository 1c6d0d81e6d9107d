import { addResolversToSchema } from '@graphql-tools/schema'
import {
  extendSchema,
  GraphQLSchema,
  isObjectType,
  isScalarType,
  Kind,
  KnownDirectivesRule,
  KnownTypeNamesRule,
  LoneSchemaDefinitionRule,
  OperationTypeNode,
  PossibleTypeExtensionsRule,
  UniqueArgumentDefinitionNamesRule,
  UniqueDirectiveNamesRule,
  UniqueDirectivesPerLocationRule,
  UniqueEnumValueNamesRule,
  UniqueFieldDefinitionNamesRule,
  UniqueOperationTypesRule,
  UniqueTypeNamesRule,
  validate,
  validateSchema,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLObjectType,
  type GraphQLSchemaConfig,
  type ValidationRule,
} from 'graphql'
import { noteAccessDirectives } from '../access/rules/directives.ts'
import { noteCostDirectives } from '../cost/directives.ts'
import type { IResolvers } from '@graphql-tools/utils'
import { forgetOrigins } from '../dependencies/own-code/origins.ts'
import { recordMethods } from '../dependencies/own-code/recorded-resolvers.ts'
import type { ViewOf } from '../dependencies/own-code/view-of.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { withClientParents } from './client-parents.ts'
import { describeMistakes } from './type-defs.ts'

/** The rules for type definitions that graphql exports. */
const RULES: readonly ValidationRule[] = [
  LoneSchemaDefinitionRule,
  UniqueOperationTypesRule,
  UniqueTypeNamesRule,
  UniqueEnumValueNamesRule,
  UniqueFieldDefinitionNamesRule,
  UniqueArgumentDefinitionNamesRule,
  UniqueDirectiveNamesRule,
  KnownTypeNamesRule,
  KnownDirectivesRule,
  UniqueDirectivesPerLocationRule,
  PossibleTypeExtensionsRule,
] as unknown as readonly ValidationRule[]

const ROOTS: ReadonlyMap<string, OperationTypeNode> = new Map([
  ['Query', OperationTypeNode.QUERY],
  ['Mutation', OperationTypeNode.MUTATION],
  ['Subscription', OperationTypeNode.SUBSCRIPTION],
])

/** The schema of the sources with what the config's `typeDefs` and `resolvers` add. @throws ConfigError with all mistakes */
export function extendWith(
  schema: GraphQLSchema,
  typeDefs: DocumentNode,
  resolvers: IResolvers | undefined,
  viewOf: ViewOf | undefined,
): GraphQLSchema {
  const document = asExtension(schema, typeDefs)
  // Other sources, and these definitions, may yet bring the query type.
  const base = new GraphQLSchema({ ...schema.toConfig(), assumeValid: true })
  const mistakes = validate(base, document, RULES)
  if (mistakes.length > 0) throw new ConfigError(describeMistakes(mistakes))
  const extended = new GraphQLSchema({
    ...withRoots(extendSchema(base, document, { assumeValidSDL: true }), document),
    // By them sources know that they are part of it; `extendSchema` gives none. Marks of plugins are symbols: they are of
    // what was there before.
    extensions: Object.fromEntries(Object.entries(schema.extensions)),
  })
  const invalid = extended.getQueryType() ? validateSchema(extended) : []
  if (invalid.length > 0) throw new ConfigError(describeMistakes(invalid))
  noteAccessDirectives(extended)
  noteCostDirectives(extended)
  if (!resolvers) return extended
  try {
    const whole = addResolversToSchema({ schema: extended, resolvers: withClientParents(resolvers) })
    forgetOrigins(whole, resolvers)
    if (viewOf) recordMethods(whole, viewOf)
    return whole
  } catch (error) {
    throw new ConfigError(`resolvers: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * An object type that sources have is added to, whichever word is before it, and so is a root type that nothing has yet; the
 * same scalar is there already.
 */
function asExtension(schema: GraphQLSchema, { definitions, ...document }: DocumentNode): DocumentNode {
  const isDefined = new Set(
    definitions.flatMap((one) => (one.kind === Kind.OBJECT_TYPE_DEFINITION ? one.name.value : [])),
  )
  const saysRoots = definitions.some(namesRoots)
  const isMissingRoot = (name: string): boolean => {
    const operation = ROOTS.get(name)
    return operation !== undefined && !saysRoots && !schema.getRootType(operation)
  }
  return {
    ...document,
    definitions: definitions.flatMap((definition): DefinitionNode[] => {
      if (!('name' in definition) || definition.name === undefined) return [definition]
      const name = definition.name.value
      const existing = schema.getType(name)
      if (definition.kind === Kind.OBJECT_TYPE_DEFINITION && isObjectType(existing))
        return [{ ...definition, kind: Kind.OBJECT_TYPE_EXTENSION }]
      if (definition.kind === Kind.OBJECT_TYPE_EXTENSION && isMissingRoot(name) && !isDefined.has(name)) {
        isDefined.add(name)
        return [{ ...definition, kind: Kind.OBJECT_TYPE_DEFINITION }]
      }
      if (definition.kind === Kind.SCALAR_TYPE_DEFINITION && isScalarType(existing)) return []
      return [definition]
    }),
  }
}

function namesRoots(definition: DefinitionNode): boolean {
  return (
    (definition.kind === Kind.SCHEMA_DEFINITION || definition.kind === Kind.SCHEMA_EXTENSION) &&
    (definition.operationTypes?.length ?? 0) > 0
  )
}

/** Types called `Query`, `Mutation` and `Subscription` are roots, as in a schema that is made of definitions alone. */
function withRoots(schema: GraphQLSchema, { definitions }: DocumentNode): GraphQLSchemaConfig {
  const config = schema.toConfig()
  if (definitions.some(namesRoots)) return config
  const root = (name: string): GraphQLObjectType | undefined => {
    const type = schema.getType(name)
    return isObjectType(type) ? type : undefined
  }
  return {
    ...config,
    query: config.query ?? root('Query'),
    mutation: config.mutation ?? root('Mutation'),
    subscription: config.subscription ?? root('Subscription'),
  }
}
