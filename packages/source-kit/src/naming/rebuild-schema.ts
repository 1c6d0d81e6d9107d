import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLUnionType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfig,
  type GraphQLInterfaceTypeConfig,
  type GraphQLNamedType,
  type GraphQLObjectTypeConfig,
  type GraphQLType,
} from 'graphql'
import { hiddenOf } from '../own/names.ts'
import type { Names } from './decide-names.ts'
import { isForeign, isRoot, partOf } from './elements.ts'
import { renamedFieldSets } from './field-sets.ts'
import type { FieldNamer, TypeOf } from './rename-field.ts'
import { clientTypeResolver } from './resolve-type.ts'

export interface RebuildOptions {
  readonly names: Names
  /** Object types of the source that have no fields yet. */
  readonly own: ReadonlySet<string>
  readonly namer: (typeOf: TypeOf) => FieldNamer
}

type Composite = GraphQLObjectType | GraphQLInterfaceType

/** A source's schema as clients see it. */
export function rebuildSchema(schema: GraphQLSchema, { names, own, namer }: RebuildOptions): GraphQLSchema {
  const made = new Map<GraphQLNamedType, GraphQLNamedType>()
  const { field, input } = namer(typeOf)

  function typeOf<T extends GraphQLType>(type: T): T {
    if (isNonNullType(type)) return new GraphQLNonNull(typeOf(type.ofType)) as unknown as T
    if (isListType(type)) return new GraphQLList(typeOf(type.ofType)) as unknown as T
    return named(type as GraphQLNamedType) as T
  }

  function named(type: GraphQLNamedType): GraphQLNamedType {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type) || isForeign(type, own)) return type
    let built = made.get(type)
    if (!built) made.set(type, (built = build(type, names.get(type.name) ?? type.name)))
    return built
  }

  function build(type: GraphQLNamedType, name: string): GraphQLNamedType {
    if (isScalarType(type))
      return name === type.name ? type : new GraphQLScalarType({ ...type.toConfig(), name })
    if (isEnumType(type)) {
      const config = type.toConfig()
      return new GraphQLEnumType({ ...config, name, values: renamedKeys(type.name, config.values) })
    }
    if (isInputObjectType(type)) {
      const config = type.toConfig()
      return new GraphQLInputObjectType({
        ...config,
        name,
        fields: () =>
          mapValues(renamedKeys(type.name, config.fields), (one): GraphQLInputFieldConfig => input(one)),
      })
    }
    if (isUnionType(type)) {
      const config = type.toConfig()
      return new GraphQLUnionType({
        ...config,
        name,
        types: () => config.types.filter(isVisible).map(typeOf),
        resolveType: clientTypeResolver(type, names),
      })
    }
    if (isInterfaceType(type)) {
      const config: GraphQLInterfaceTypeConfig<unknown, unknown> = {
        ...type.toConfig(),
        name,
        ...partsOf(type),
      }
      return new GraphQLInterfaceType({ ...config, resolveType: clientTypeResolver(type, names) })
    }
    const config: GraphQLObjectTypeConfig<unknown, unknown> = { ...type.toConfig(), name, ...partsOf(type) }
    return new GraphQLObjectType({ ...config, extensions: extensionsOf(type) })
  }

  function isVisible({ name }: GraphQLNamedType): boolean {
    return names.get(name) !== null
  }

  function partsOf(type: Composite) {
    return {
      interfaces: () => type.getInterfaces().filter(isVisible).map(typeOf),
      fields: () => fieldsOf(type, false),
    }
  }

  /** Those that clients see, or those that they do not. */
  function fieldsOf(type: Composite, areHidden: boolean): GraphQLFieldConfigMap<unknown, unknown> {
    const found: GraphQLFieldConfigMap<unknown, unknown> = {}
    for (const [own, config] of Object.entries(type.toConfig().fields)) {
      const name = names.get(partOf(type.name, own).coordinate)
      if ((name === null) === areHidden) found[name ?? own] = field(type.name, own, name ?? own, config)
    }
    return found
  }

  /** With the hidden fields, as joins may read them. */
  function extensionsOf(type: GraphQLObjectType): GraphQLObjectType['extensions'] {
    const { name, extensions } = type
    const isHiding = Object.keys(type.getFields()).some(
      (own) => names.get(partOf(name, own).coordinate) === null,
    )
    const kept = { ...extensions, ...renamedFieldSets(schema, names, extensions, { type: name }) }
    if (!isHiding || isRoot(name)) return kept
    const hidden = new GraphQLObjectType({ name: `${name}Hidden`, fields: () => fieldsOf(type, true) })
    return { ...kept, hidden: [...hiddenOf(extensions), hidden] }
  }

  function renamedKeys<Value>(type: string, parts: Readonly<Record<string, Value>>): Record<string, Value> {
    return Object.fromEntries(
      Object.entries(parts).flatMap(([own, value]) => {
        const name = names.get(partOf(type, own).coordinate)
        return name === null ? [] : [[name ?? own, value] as const]
      }),
    )
  }

  const root = (type: GraphQLObjectType | null | undefined): GraphQLObjectType | undefined => {
    const built = type ? typeOf(type) : undefined
    return built && Object.keys(built.getFields()).length > 0 ? built : undefined
  }
  return new GraphQLSchema({
    ...schema.toConfig(),
    extensions: {},
    query: root(schema.getQueryType()),
    mutation: root(schema.getMutationType()),
    subscription: root(schema.getSubscriptionType()),
    types: Object.values(schema.getTypeMap())
      .filter((type) => isVisible(type) && !isIntrospectionType(type) && !isRoot(type.name))
      .map(typeOf),
  })
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  of: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value)]))
}
