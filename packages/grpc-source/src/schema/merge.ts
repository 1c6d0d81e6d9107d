import { rewireTypes } from '@graphql-tools/utils'
import {
  GraphQLInputObjectType,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLUnionType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  printType,
  type GraphQLNamedType,
} from 'graphql'
import { GrpcSourceError } from '../errors.ts'

const ROOTS = ['query', 'mutation', 'subscription'] as const

/**
 * Adds `addition` to `base`. Object types of one name become one type with the fields of both; scalars of one name
 * are the base's.
 * @throws GrpcSourceError naming both origins when a field, or another kind of type, is in both
 */
export function mergeSchemas(base: GraphQLSchema, addition: GraphQLSchema): GraphQLSchema {
  const types: Record<string, GraphQLNamedType> = {}
  for (const type of Object.values(base.getTypeMap())) {
    if (!isIntrospectionType(type)) types[type.name] = type
  }
  const roots = rootNames(base, addition)
  const renamed = new Map(
    ROOTS.flatMap((root) =>
      addition.getRootType(root as never)
        ? [[addition.getRootType(root as never)?.name, roots[root]] as const]
        : [],
    ),
  )
  for (const type of Object.values(addition.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue
    const name = renamed.get(type.name) ?? type.name
    const existing = types[name]
    types[name] = existing ? combine(existing, type) : type
  }
  const directives = [...base.getDirectives()]
  for (const directive of addition.getDirectives()) {
    if (!isSpecifiedDirective(directive) && !directives.some(({ name }) => name === directive.name))
      directives.push(directive)
  }
  const rewired = rewireTypes(types, directives)
  const root = (name: string | undefined): GraphQLObjectType | undefined => {
    const type = name === undefined ? undefined : rewired.typeMap[name]
    return isObjectType(type) ? type : undefined
  }
  return new GraphQLSchema({
    ...base.toConfig(),
    query: root(roots.query),
    mutation: root(roots.mutation),
    subscription: root(roots.subscription),
    types: Object.values(rewired.typeMap).filter(
      (type): type is GraphQLNamedType => type !== null && type !== undefined,
    ),
    directives: rewired.directives,
    extensions: { ...base.extensions, ...addition.extensions },
    assumeValid: false,
  })
}

type Roots = Readonly<Record<(typeof ROOTS)[number], string | undefined>>

/** The base's names for the root types win. */
function rootNames(base: GraphQLSchema, addition: GraphQLSchema): Roots {
  return {
    query: (base.getQueryType() ?? addition.getQueryType())?.name,
    mutation: (base.getMutationType() ?? addition.getMutationType())?.name,
    subscription: (base.getSubscriptionType() ?? addition.getSubscriptionType())?.name,
  }
}

function combine(existing: GraphQLNamedType, added: GraphQLNamedType): GraphQLNamedType {
  if (isObjectType(existing) && isObjectType(added)) return combineObjects(existing, added)
  if (isScalarType(existing) && isScalarType(added)) return existing
  const isSame =
    ((isEnumType(existing) && isEnumType(added)) ||
      (isInputObjectType(existing) && isInputObjectType(added)) ||
      (existing instanceof GraphQLUnionType && added instanceof GraphQLUnionType)) &&
    withoutDescriptions(existing) === withoutDescriptions(added)
  if (isSame) return existing
  throw new GrpcSourceError(
    'GRPC_SOURCE_FIELD_CONFLICT',
    `two types are called "${existing.name}": ${originOf(existing.extensions)} and ${originOf(added.extensions)}; rename one, for example with typeNames`,
  )
}

function combineObjects(existing: GraphQLObjectType, added: GraphQLObjectType): GraphQLObjectType {
  const config = existing.toConfig()
  const extra = added.toConfig()
  const fields = { ...config.fields }
  for (const [name, field] of Object.entries(extra.fields)) {
    const first = fields[name]
    if (first) {
      throw new GrpcSourceError(
        'GRPC_SOURCE_FIELD_CONFLICT',
        `two sources define the field "${existing.name}.${name}": ${originOf(first.extensions, existing)} and ${originOf(field.extensions, added)}; rename one, for example with (graphql.schema).name, or leave one out`,
      )
    }
    fields[name] = field
  }
  const interfaces = [
    ...config.interfaces,
    ...extra.interfaces.filter(({ name }) => !config.interfaces.some((other) => other.name === name)),
  ]
  return new GraphQLObjectType({
    ...config,
    description: config.description ?? extra.description,
    extensions: { ...extra.extensions, ...config.extensions },
    fields,
    interfaces,
  })
}

function originOf(extensions: unknown, type?: GraphQLObjectType): string {
  const own = readOrigin(extensions) ?? readOrigin(type?.extensions)
  return own ?? "the server's own schema"
}

function readOrigin(extensions: unknown): string | undefined {
  if (typeof extensions !== 'object' || extensions === null || !('origin' in extensions)) return undefined
  return typeof extensions.origin === 'string' ? extensions.origin : undefined
}

function withoutDescriptions(type: GraphQLNamedType): string {
  return type instanceof GraphQLInputObjectType || isEnumType(type) || type instanceof GraphQLUnionType
    ? printType(type)
        .replace(/"""[\s\S]*?"""\n?/g, '')
        .replace(/\s+/g, ' ')
    : type.name
}
