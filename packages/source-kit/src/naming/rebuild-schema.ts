import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLUnionType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  type GraphQLFieldConfigMap,
  type GraphQLInterfaceTypeConfig,
  type GraphQLNamedType,
  type GraphQLObjectTypeConfig,
} from 'graphql'
import { hiddenOf } from '../own/names.ts'
import { createTypeOf, type TypeOf } from '../schema/type-of.ts'
import type { Names } from './decide-names.ts'
import { isForeign, isRoot, partOf } from './elements.ts'
import { renamedFieldSets } from './field-sets.ts'
import type { OwnValues } from './own-values.ts'
import { createFieldNamer, type FieldNamer } from './rename-field.ts'
import { clientTypeResolver } from './resolve-type.ts'
import { standardScalar } from './standard-scalars.ts'

type Composite = GraphQLObjectType | GraphQLInterfaceType

interface Making {
  readonly schema: GraphQLSchema
  readonly names: Names
  readonly namer: FieldNamer
  readonly typeOf: TypeOf
}

/** Builds a source's schema as clients see it. `own`: object types of the source that have no fields yet. */
export function rebuildSchema(
  schema: GraphQLSchema,
  names: Names,
  own: ReadonlySet<string>,
  ownValues: OwnValues,
): GraphQLSchema {
  const made = new Map<GraphQLNamedType, GraphQLNamedType>()
  const typeOf = createTypeOf(named)
  const making: Making = { schema, names, typeOf, namer: createFieldNamer(schema, names, ownValues, typeOf) }

  function named(type: GraphQLNamedType): GraphQLNamedType {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type) || isForeign(type, own)) return type
    let built = made.get(type)
    if (!built) made.set(type, (built = build(type, names.get(type.name) ?? type.name, making)))
    return built
  }

  const root = (type: GraphQLObjectType | null | undefined): GraphQLObjectType | undefined => {
    const built = type ? typeOf(type) : undefined
    return built && Object.keys(built.getFields()).length > 0 ? built : undefined
  }
  const others = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isRoot(type.name),
  )
  return new GraphQLSchema({
    ...schema.toConfig(),
    extensions: {},
    query: root(schema.getQueryType()),
    mutation: root(schema.getMutationType()),
    subscription: root(schema.getSubscriptionType()),
    types: visible(others, making),
  })
}

function build(type: GraphQLNamedType, name: string, making: Making): GraphQLNamedType {
  const { names, namer } = making
  if (isScalarType(type)) {
    if (name === type.name) return type
    return standardScalar(type.name, name) ?? new GraphQLScalarType({ ...type.toConfig(), name })
  }
  if (isEnumType(type)) {
    const config = type.toConfig()
    return new GraphQLEnumType({ ...config, name, values: renamedKeys(names, type.name, config.values) })
  }
  if (isInputObjectType(type)) {
    const config = type.toConfig()
    const fields = () => {
      const renamed = Object.entries(renamedKeys(names, type.name, config.fields))
      return Object.fromEntries(renamed.map(([key, field]) => [key, namer.input(field)]))
    }
    return new GraphQLInputObjectType({ ...config, name, fields })
  }
  if (isUnionType(type)) {
    const config = type.toConfig()
    const types = () => visible(config.types, making)
    return new GraphQLUnionType({ ...config, name, types, resolveType: clientTypeResolver(type, names) })
  }
  const parts = {
    name,
    interfaces: () => visible(type.getInterfaces(), making),
    fields: () => fieldsOf(type, false, making),
  }
  if (isInterfaceType(type)) {
    const config: GraphQLInterfaceTypeConfig<unknown, unknown> = { ...type.toConfig(), ...parts }
    return new GraphQLInterfaceType({ ...config, resolveType: clientTypeResolver(type, names) })
  }
  const config: GraphQLObjectTypeConfig<unknown, unknown> = { ...type.toConfig(), ...parts }
  return new GraphQLObjectType({ ...config, extensions: extensionsOf(type, making) })
}

function visible<T extends GraphQLNamedType>(types: readonly T[], { names, typeOf }: Making): T[] {
  return types.filter(({ name }) => names.get(name) !== null).map((type) => typeOf(type))
}

/** Gives the fields that clients see, or those that they do not. */
function fieldsOf(
  type: Composite,
  areHidden: boolean,
  { names, namer }: Making,
): GraphQLFieldConfigMap<unknown, unknown> {
  const found: GraphQLFieldConfigMap<unknown, unknown> = {}
  for (const [own, config] of Object.entries(type.toConfig().fields)) {
    const name = names.get(partOf(type.name, own).coordinate)
    if ((name === null) === areHidden) found[name ?? own] = namer.field(type.name, own, name ?? own, config)
  }
  return found
}

/** The hidden fields are among them, as joins may read those. */
function extensionsOf(type: GraphQLObjectType, making: Making): GraphQLObjectType['extensions'] {
  const { schema, names } = making
  const { name, extensions } = type
  const kept = { ...extensions, ...renamedFieldSets(schema, names, extensions, { type: name }) }
  const fields = Object.keys(type.getFields())
  const isHiding = fields.some((own) => names.get(partOf(name, own).coordinate) === null)
  if (!isHiding || isRoot(name)) return kept
  const hidden = new GraphQLObjectType({
    name: `${name}Hidden`,
    fields: () => fieldsOf(type, true, making),
  })
  return { ...kept, hidden: [...hiddenOf(extensions), hidden] }
}

function renamedKeys<Value>(
  names: Names,
  type: string,
  parts: Readonly<Record<string, Value>>,
): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([own, value]) => {
      const name = names.get(partOf(type, own).coordinate)
      return name === null ? [] : [[name ?? own, value] as const]
    }),
  )
}
