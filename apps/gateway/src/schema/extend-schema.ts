import { addResolversToSchema } from '@graphql-tools/schema'
import {
  extendSchema,
  GraphQLError,
  GraphQLSchema,
  isAbstractType,
  isObjectType,
  isScalarType,
  Kind,
  KnownDirectivesRule,
  KnownTypeNamesRule,
  LoneSchemaDefinitionRule,
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
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type OperationTypeNode,
  type ValidationRule,
  isInterfaceType,
  type GraphQLResolveInfo,
} from 'graphql'
import { isRootName, suggestFor } from '../coordinates.ts'
import { noteAccessDirectives } from '../access/rules/directives.ts'
import { noteCostDirectives } from '../cost/directives.ts'
import type { IResolvers } from '@graphql-tools/utils'
import { ConfigError, messageOf, mistakeAt, findingAt } from '../errors.ts'
import { findingsIn } from '../texts/type-defs-text.ts'
import { type Finding, keyed } from '@vinyasa/core'
import { memberOf } from '@vinyasa/source-kit'

type Resolver = (parent: unknown, args: unknown, context: unknown, info: GraphQLResolveInfo) => unknown

/**
 * The config's resolvers, given their parents by the names that clients know: objects of sources hold their members as
 * the source calls them.
 */
function withClientParents(resolvers: IResolvers): IResolvers {
  const views = createViews()

  function wrap(resolver: unknown): unknown {
    if (typeof resolver === 'function')
      return (parent: unknown, args: unknown, context: unknown, info: GraphQLResolveInfo) =>
        (resolver as Resolver)(views(parent, info.parentType), args, context, info)
    if (typeof resolver !== 'object' || resolver === null || !('resolve' in resolver)) return resolver
    return { ...resolver, resolve: wrap(resolver.resolve) }
  }

  const mapped = Object.entries(resolvers).map(([typeName, given]) => {
    if (!isFieldMap(given)) return [typeName, given]
    const members = Object.entries(given)
    return [
      typeName,
      Object.fromEntries(members.map(([name, one]) => [name, name.startsWith('__') ? one : wrap(one)])),
    ]
  })
  return Object.fromEntries(mapped) as IResolvers
}

/** Scalars are objects of a class. */
function isFieldMap(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && Object.getPrototypeOf(given) === Object.prototype
}

/** Copies, so that a resolver may pass its parent on to a field of the same type. */
function createViews(): (parent: unknown, type: GraphQLObjectType) => unknown {
  const renamedIn = keyed(
    (type: GraphQLObjectType) =>
      Object.values(type.getFields()).flatMap((field) => {
        const member = memberOf(field)
        return member === undefined || member === field.name ? [] : [[field.name, member] as const]
      }),
    new WeakMap<GraphQLObjectType, (readonly [client: string, own: string])[]>(),
  )

  return (parent, type) => {
    const names = renamedIn(type)
    if (typeof parent !== 'object' || parent === null || names.length === 0) return parent
    const values = parent as Readonly<Record<string, unknown>>
    const known = names.filter(([, own]) => Object.hasOwn(values, own))
    return { ...values, ...Object.fromEntries(known.map(([client, own]) => [client, values[own]])) }
  }
}

/** Throws {@link ConfigError} with each type and field that has a resolver and is not there. */
function checkResolvers(schema: GraphQLSchema, resolvers: IResolvers): void {
  const findings = Object.entries(resolvers).flatMap(([name, given]): Finding[] => {
    const type = schema.getType(name)
    if (!type)
      return [
        findingAt(
          ['resolvers', name],
          `the schema has no such type; define it in typeDefs, or remove this resolver${suggestFor(schema, name)}`,
        ),
      ]
    if (!(isObjectType(type) || isInterfaceType(type)) || typeof given !== 'object' || given === null)
      return []
    const fields = type.getFields()
    return Object.keys(given).flatMap((field) => {
      if (field.startsWith('__') || Object.hasOwn(fields, field)) return []
      const near = suggestFor(schema, `${name}.${field}`)
      const text = `${name} has no such field; define it in typeDefs, or remove this resolver${near}`
      return [findingAt(['resolvers', name, field], text)]
    })
  })
  if (findings.length > 0) throw new ConfigError(findings)
}

type AnyField = GraphQLField<unknown, unknown>

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

/** The schema of the sources with what the config's `typeDefs` and `resolvers` add. @throws ConfigError with all mistakes */
export function extendWith(
  schema: GraphQLSchema,
  typeDefs: DocumentNode,
  resolvers: IResolvers | undefined,
): GraphQLSchema {
  const document = asExtension(schema, typeDefs)
  // Other sources, and these definitions, may yet bring the query type.
  const base = new GraphQLSchema({ ...schema.toConfig(), assumeValid: true })
  const mistakes = validate(base, document, RULES)
  if (mistakes.length > 0) throw new ConfigError(findingsIn(mistakes))
  const extended = withRoots(extendSchema(base, document, { assumeValidSDL: true }), document)
  // By them sources know that they are part of it; `extendSchema` gives none. Marks of plugins are symbols: they are of
  // what was there before.
  extended.extensions = Object.fromEntries(Object.entries(schema.extensions))
  const invalid = extended.getQueryType() ? validateSchema(extended) : []
  if (invalid.length > 0) throw new ConfigError(findingsIn(invalid))
  try {
    noteAccessDirectives(extended)
    noteCostDirectives(extended)
  } catch (error) {
    throw error instanceof GraphQLError ? new ConfigError(findingsIn([error]), { cause: error }) : error
  }
  if (!resolvers) return extended
  checkResolvers(extended, resolvers)
  try {
    const whole = withResolvers(extended, withClientParents(resolvers), schema)
    markOwnCode(whole, schema)
    return whole
  } catch (error) {
    throw mistakeAt(['resolvers'], messageOf(error), { cause: error })
  }
}

/**
 * Takes the origin of a source from fields that code of the config resolves, and marks types that such code chooses, by
 * comparing with the schema before. Mutations keep theirs: their sources announce them.
 */
function markOwnCode(schema: GraphQLSchema, before: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    const former = before.getType(type.name)
    if (isChosen(type) !== isChosen(former)) type.extensions = { ...type.extensions, ownCode: true }
    if (!isObjectType(type) || !isObjectType(former) || type === schema.getMutationType()) continue
    for (const field of Object.values(type.getFields())) {
      if (field.resolve === former.getFields()[field.name]?.resolve) continue
      const { origin: _, ...others } = field.extensions
      field.extensions = others
    }
  }
}

function isChosen(type: GraphQLNamedType | undefined): unknown {
  if (isObjectType(type)) return type.isTypeOf ?? undefined
  return isAbstractType(type) ? (type.resolveType ?? undefined) : undefined
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
  const isMissingRoot = (name: string): boolean =>
    isRootName(name) && !saysRoots && !schema.getRootType(name.toLowerCase() as OperationTypeNode)
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

/**
 * Resolvers of fields whose types have just been made are set there; for all others the whole schema is made anew, since what
 * it was made from keeps what it has.
 */
function withResolvers(schema: GraphQLSchema, resolvers: IResolvers, before: GraphQLSchema): GraphQLSchema {
  const places: { readonly field: AnyField; readonly resolve: AnyField['resolve'] }[] = []
  for (const [typeName, given] of Object.entries(resolvers)) {
    const type = schema.getType(typeName)
    const isNew = isObjectType(type) && type !== before.getType(typeName)
    const members = isNew && isFieldMap(given) ? Object.entries(given) : [[] as const]
    for (const [name = '', member] of members) {
      const field = isNew ? type.getFields()[name] : undefined
      if (!field || typeof member !== 'function') return addResolversToSchema({ schema, resolvers })
      places.push({ field, resolve: member as AnyField['resolve'] })
    }
  }
  for (const { field, resolve } of places) field.resolve = resolve
  return schema
}

/** Types called `Query`, `Mutation` and `Subscription` are roots, as in a schema that is made of definitions alone. */
function withRoots(schema: GraphQLSchema, { definitions }: DocumentNode): GraphQLSchema {
  if (definitions.some(namesRoots)) return schema
  const root = (name: string): GraphQLObjectType | undefined => {
    const type = schema.getType(name)
    return isObjectType(type) ? type : undefined
  }
  const config = schema.toConfig()
  const query = config.query ?? root('Query')
  const mutation = config.mutation ?? root('Mutation')
  const subscription = config.subscription ?? root('Subscription')
  const isSame =
    query === config.query && mutation === config.mutation && subscription === config.subscription
  return isSame ? schema : new GraphQLSchema({ ...config, query, mutation, subscription })
}
