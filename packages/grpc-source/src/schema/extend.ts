import { rewireTypes } from '@graphql-tools/utils'
import {
  GraphQLObjectType,
  GraphQLSchema,
  isIntrospectionType,
  isObjectType,
  type GraphQLFieldConfig,
  type GraphQLNamedType,
} from 'graphql'
import { GrpcSourceError } from '../errors.ts'

type Fields = Readonly<Record<string, GraphQLFieldConfig<unknown, unknown>>>

/**
 * Adds fields to types that a schema has; types it has not are left for another time.
 * @throws GrpcSourceError when a field is there already
 */
export function extendTypes(schema: GraphQLSchema, additions: ReadonlyMap<string, Fields>): GraphQLSchema {
  const due = [...additions].filter(([typeName]) => isObjectType(schema.getType(typeName)))
  if (due.length === 0) return schema
  const types: Record<string, GraphQLNamedType> = {}
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isIntrospectionType(type)) types[type.name] = type
  }
  for (const [typeName, fields] of due) {
    const config = (types[typeName] as GraphQLObjectType).toConfig()
    for (const [name, field] of Object.entries(fields)) {
      const existing = config.fields[name]
      if (existing) {
        throw new GrpcSourceError(
          'GRPC_SOURCE_FIELD_CONFLICT',
          `two sources define the field "${typeName}.${name}": ${String(existing.extensions?.['origin'] ?? "the server's own schema")} and ${String(field.extensions?.['origin'])}; rename one`,
        )
      }
    }
    types[typeName] = new GraphQLObjectType({ ...config, fields: { ...config.fields, ...fields } })
  }
  const { typeMap, directives } = rewireTypes(types, schema.getDirectives())
  const root = (type: GraphQLObjectType | null | undefined): GraphQLObjectType | undefined =>
    type ? (typeMap[type.name] as GraphQLObjectType) : undefined
  return new GraphQLSchema({
    ...schema.toConfig(),
    query: root(schema.getQueryType()),
    mutation: root(schema.getMutationType()),
    subscription: root(schema.getSubscriptionType()),
    types: Object.values(typeMap).filter((type): type is GraphQLNamedType => type !== null),
    directives,
    extensions: schema.extensions,
  })
}

/** The joins that a schema still lacks although it has their types. */
export function missingFields(
  schema: GraphQLSchema,
  additions: ReadonlyMap<string, Fields>,
): ReadonlyMap<string, Fields> {
  return new Map(
    [...additions].filter(([typeName, fields]) => {
      const type = schema.getType(typeName)
      return (
        isObjectType(type) &&
        Object.keys(fields).some(
          (name) => type.getFields()[name]?.extensions['origin'] !== fields[name]?.extensions?.['origin'],
        )
      )
    }),
  )
}
