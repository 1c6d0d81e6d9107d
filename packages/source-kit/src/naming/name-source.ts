import type { Finding } from '@vinyasa/core'
import {
  getNamedType,
  GraphQLString,
  isInputObjectType,
  isInputType,
  isInterfaceType,
  isObjectType,
  parseType,
  typeFromAST,
  defaultFieldResolver,
  type GraphQLArgument,
  type GraphQLArgumentConfig,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldResolver,
  type GraphQLInputFieldConfig,
  type GraphQLOutputType,
  type GraphQLInputField,
  GraphQLSchema,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLUnionType,
  isEnumType,
  isIntrospectionType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  type GraphQLFieldConfigMap,
  type GraphQLInterfaceTypeConfig,
  type GraphQLNamedType,
  type GraphQLObjectTypeConfig,
  defaultTypeResolver,
  GraphQLError,
  type GraphQLTypeResolver,
} from 'graphql'
import { mergeSources } from '../schema/merge-sources.ts'
import type { ContributedArgument, ContributedField, Source } from '../schema/source.ts'
import { decideNames, type Names } from './decide-names.ts'
import { defaultValueOf } from './default-value.ts'
import { argumentAt, partOf, type Element, isForeign, isRoot } from './elements.ts'
import { SourceNamesError, type SourceNames } from './options.ts'
import { OwnValues } from './own-values.ts'
import { memberReader } from '../own/members.ts'
import { standInFor, standInOf, withOwnArguments } from '../own/stand-ins.ts'
import { meantBy, renamedStatements } from './statements.ts'
import { hiddenOf } from '../own/names.ts'
import { createTypeOf, type TypeOf } from '../schema/type-of.ts'
import { renamedFieldSets } from './field-sets.ts'
import { standardScalar, standardValues } from './standard-scalars.ts'
import { markTeller, tellerOf } from '../own/tellers.ts'

type Abstract = GraphQLInterfaceType | GraphQLUnionType

/** Tells the type of a value as clients call it. */
function clientTypeResolver(type: Abstract, names: Names): GraphQLTypeResolver<unknown, unknown> {
  const { name, resolveType } = type

  function client(own: string | undefined): string | undefined {
    const found = own === undefined ? undefined : names.get(own)
    if (found === null)
      throw new GraphQLError(
        `A value of the type "${names.get(name) ?? name}" cannot be returned, because its object type is hidden from clients.`,
        {
          extensions: { code: 'HIDDEN_TYPE' },
        },
      )
    return found ?? own
  }

  const resolve: GraphQLTypeResolver<unknown, unknown> = (value, context, info, abstract) => {
    if (resolveType) {
      const found = resolveType(value, context, info, abstract)
      return found instanceof Promise ? found.then(client) : client(found as string | undefined)
    }
    // Types that tell their values themselves have their new names.
    const said = memberNamed(value)
    return said === undefined ? defaultTypeResolver(value, context, info, abstract) : client(said)
  }
  const tell = tellerOf(type)
  if (!tell) return resolve
  return markTeller(resolve, (value) => {
    const own = tell(value)
    return own === undefined ? undefined : (names.get(own) ?? (names.has(own) ? undefined : own))
  })
}

function memberNamed(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('__typename' in value)) return undefined
  return typeof value.__typename === 'string' ? value.__typename : undefined
}

type Composite = GraphQLObjectType | GraphQLInterfaceType

type FieldConfig = GraphQLFieldConfig<unknown, unknown>
type Resolver = GraphQLFieldResolver<unknown, unknown>
type Extensions = Readonly<Record<string, unknown>>

/** A source's own schema, and how clients call and send what is in it. */
interface Naming {
  readonly schema: GraphQLSchema
  readonly names: Names
  readonly ownValues: OwnValues
  readonly typeOf: TypeOf
}

/** Returns an argument or an input field with the type and the default that clients know. */
function renamedInput<Config extends GraphQLArgumentConfig | GraphQLInputFieldConfig>(
  { ownValues, typeOf }: Naming,
  config: Config,
): Config {
  const { type } = config
  const defaultValue = defaultValueOf(config)
  return {
    ...config,
    type: typeOf(type),
    // A config of graphql 17 has `default`, and may not have `defaultValue` beside it.
    default: undefined,
    ...(defaultValue !== undefined && { defaultValue: ownValues.defaultOf(type, defaultValue) }),
  }
}

/** Returns the parts that clients see, under the names that they have for them. */
function renamedKeys<Value>(
  names: Names,
  parts: Readonly<Record<string, Value>>,
  coordinateOf: (own: string) => string,
  rename: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([own, value]) => {
      const name = names.get(coordinateOf(own))
      return name === null ? [] : [[name ?? own, rename(value)] as const]
    }),
  )
}

/** Adds to a field the data that it needs if its name differs from the name in the source. */
function renamedField(
  naming: Naming,
  type: string,
  own: string,
  client: string,
  config: FieldConfig,
): FieldConfig {
  const { schema, names, ownValues, typeOf } = naming
  const { coordinate } = partOf(type, own)
  const { args = {}, resolve } = config
  const extensions: Extensions = config.extensions ?? {}
  const { requires } = extensions
  const given = getNamedType(config.type).name
  const toOwn = ownValues.arguments(coordinate, argumentsOf(args))
  const isReader = resolve === undefined || resolve === defaultFieldResolver
  const isRenamed = own !== client
  const toValue = valuesFor(names, given, `${names.get(type) ?? type}.${client}`)
  const reader = isReader && (isRenamed || toValue) ? memberReader(own) : resolve
  return {
    ...config,
    type: typeOf(config.type),
    args: renamedKeys(
      names,
      args,
      (name) => argumentAt(coordinate, name),
      (arg) => renamedInput(naming, arg),
    ),
    resolve: withValues(withOwnArguments(reader, toOwn), toValue, config.type),
    subscribe: withOwnArguments(config.subscribe, toOwn),
    extensions: {
      // A reader of our own is no source of its own.
      ...(isRenamed && { origin: `${type}.${own}` }),
      ...renamedStatements(extensions, meantBy(names)),
      ...(isRenamed && { ownName: own }),
      // The fields of its parent that the field reads.
      ...(Array.isArray(requires) && {
        requires: requires.map((name: unknown) => names.get(partOf(type, String(name)).coordinate) ?? name),
      }),
      ...renamedFieldSets(schema, names, extensions, { type, given }),
    },
  }
}

/** The values of a field whose scalar is one of GraphQL's own for clients; undefined where it is none, or all fit. */
function valuesFor(names: Names, own: string, place: string): ReturnType<typeof standardValues> {
  return standardValues(standardScalar(own, names.get(own) ?? own), place)
}

/** Calls a resolver for values that clients' scalars have. */
function withValues<Given extends Resolver | undefined>(
  resolver: Given,
  toValue: ReturnType<typeof standardValues>,
  type?: GraphQLOutputType,
): Given | Resolver {
  if (!resolver || !toValue) return resolver
  const standing: Resolver = (source, args, context, info) => toValue(resolver(source, args, context, info))
  return standInFor(standing, { ...standInOf(resolver), type })
}

/** Returns the arguments as a field of a schema has them. */
function argumentsOf(args: GraphQLFieldConfigArgumentMap): GraphQLArgument[] {
  return Object.entries(args).map(([name, config]) => ({ ...config, name }) as GraphQLArgument)
}

/** Builds a source's schema as clients see it. `own`: object types of the source that have no fields yet. */
function rebuildSchema(toClient: Omit<Naming, 'typeOf'>, own: ReadonlySet<string>): GraphQLSchema {
  const { schema, names } = toClient
  const made = new Map<GraphQLNamedType, GraphQLNamedType>()
  const typeOf = createTypeOf(named)
  const naming: Naming = { ...toClient, typeOf }

  function named(type: GraphQLNamedType): GraphQLNamedType {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type) || isForeign(type, own)) return type
    let built = made.get(type)
    if (!built) made.set(type, (built = build(type, names.get(type.name) ?? type.name, naming)))
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
    types: visible(others, naming),
  })
}

function build(type: GraphQLNamedType, name: string, naming: Naming): GraphQLNamedType {
  const { names } = naming
  const coordinateOf = (part: string): string => partOf(type.name, part).coordinate
  if (isScalarType(type)) {
    if (name === type.name) return type
    return standardScalar(type.name, name) ?? new GraphQLScalarType({ ...type.toConfig(), name })
  }
  if (isEnumType(type)) {
    const config = type.toConfig()
    return new GraphQLEnumType({
      ...config,
      name,
      values: renamedKeys(names, config.values, coordinateOf, (value) => value),
    })
  }
  if (isInputObjectType(type)) {
    const config = type.toConfig()
    const fields = () =>
      renamedKeys(names, config.fields, coordinateOf, (field) => renamedInput(naming, field))
    return new GraphQLInputObjectType({ ...config, name, fields })
  }
  if (isUnionType(type)) {
    const config = type.toConfig()
    const types = () => visible(config.types, naming)
    return new GraphQLUnionType({ ...config, name, types, resolveType: clientTypeResolver(type, names) })
  }
  const parts = {
    name,
    interfaces: () => visible(type.getInterfaces(), naming),
    fields: () => fieldsOf(type, false, naming),
  }
  if (isInterfaceType(type)) {
    const config: GraphQLInterfaceTypeConfig<unknown, unknown> = { ...type.toConfig(), ...parts }
    return new GraphQLInterfaceType({ ...config, resolveType: clientTypeResolver(type, names) })
  }
  const config: GraphQLObjectTypeConfig<unknown, unknown> = { ...type.toConfig(), ...parts }
  return new GraphQLObjectType({ ...config, extensions: extensionsOf(type, naming) })
}

function visible<T extends GraphQLNamedType>(types: readonly T[], { names, typeOf }: Naming): T[] {
  return types.filter(({ name }) => names.get(name) !== null).map((type) => typeOf(type))
}

/** Gives the fields that clients see, or those that they do not. */
function fieldsOf(
  type: Composite,
  areHidden: boolean,
  naming: Naming,
): GraphQLFieldConfigMap<unknown, unknown> {
  const found: GraphQLFieldConfigMap<unknown, unknown> = {}
  for (const [own, config] of Object.entries(type.toConfig().fields)) {
    const name = naming.names.get(partOf(type.name, own).coordinate)
    if ((name === null) === areHidden)
      found[name ?? own] = renamedField(naming, type.name, own, name ?? own, config)
  }
  return found
}

/** The hidden fields are among them, as joins may read those. */
function extensionsOf(type: GraphQLObjectType, naming: Naming): GraphQLObjectType['extensions'] {
  const { schema, names } = naming
  const { name, extensions } = type
  const kept = { ...extensions, ...renamedFieldSets(schema, names, extensions, { type: name }) }
  const fields = Object.keys(type.getFields())
  const isHiding = fields.some((own) => names.get(partOf(name, own).coordinate) === null)
  if (!isHiding || isRoot(name)) return kept
  const hidden = new GraphQLObjectType({
    name: `${name}Hidden`,
    fields: () => fieldsOf(type, true, naming),
  })
  return { ...kept, hidden: [...hiddenOf(extensions), hidden] }
}

/** Source with the names that clients use. */
export interface NamedSource {
  readonly source: Source
  /**
   * Returns the client name of a type of the source; `undefined` if it is hidden. Names of other sources are
   * unchanged.
   */
  typeNamed(own: string): string | undefined
  /** Returns the client name of a field of the source; `undefined` if it is hidden. */
  fieldNamed(type: string, own: string): string | undefined
  /** Returns the client names that a type name in the source's own declarations can refer to. */
  typesMeant(own: string): readonly string[]
}

/**
 * Renames or hides types and fields of a source.
 * @throws SourceNamesError with all invalid names
 */
export function nameSource(source: Source, options: SourceNames): NamedSource {
  const { prefix, rename, hide } = options
  if (!prefix && !rename && !hide)
    return { source, typeNamed: (own) => own, fieldNamed: (_, own) => own, typesMeant: (own) => [own] }
  const joins = source.fields.filter(({ isJoin }) => isJoin)
  const { schema, pending } = mergeSources(null, [
    { ...source, fields: source.fields.filter(({ isJoin }) => !isJoin) },
  ])
  const waiting = pending.map(({ field }) => field)
  const own = new Set(source.types?.keys())
  const { names: decided, findings } = decideNames(schema, own, options, waiting.flatMap(elementsIn))
  if (findings.length > 0) throw new SourceNamesError(findings)
  const names = withoutReplaced(schema, decided, joins)
  const ownValues = new OwnValues(schema, names)
  const unfit = unfitDefaults(schema, ownValues)
  if (unfit.length > 0) throw new SourceNamesError(unfit)
  const toClient = { schema, names, ownValues }
  const types = [...(source.types ?? [])].flatMap(([name, description]): [string, string | undefined][] => {
    const client = clientOf(names, name)
    return client === undefined ? [] : [[client, description]]
  })
  return {
    source: {
      ...source,
      schema: rebuildSchema(toClient, own),
      fields: [...waiting, ...joins].flatMap((field) => contributedTo(toClient, field)),
      types: new Map(types),
    },
    typeNamed: (name) => clientOf(names, name),
    fieldNamed: (type, name) => clientOf(names, partOf(type, name).coordinate, name),
    typesMeant: meantBy(names),
  }
}

function clientOf(names: Names, coordinate: string, own = coordinate): string | undefined {
  const client = names.get(coordinate)
  return client === null ? undefined : (client ?? own)
}

/** A field that waits for a type of another source has a name like all others. */
function elementsIn({ parent, name, type, args = {} }: ContributedField): Element[] {
  const { coordinate } = partOf(parent, name)
  const field = {
    name,
    parent,
    coordinate,
    type: namedIn(String(type)),
    isRequired: false,
    kind: 'field' as const,
  }
  return [
    field,
    ...Object.entries(args).map(([argument, given]): Element => {
      const text = String(typeof given === 'string' ? given : given.type)
      return {
        name: argument,
        coordinate: argumentAt(coordinate, argument),
        parent: coordinate,
        type: namedIn(text),
        isRequired: text.endsWith('!') && (typeof given === 'string' || given.defaultValue === undefined),
        kind: 'argument',
      }
    }),
  ]
}

function namedIn(text: string): string {
  return text.replaceAll(/[[\]!]/g, '')
}

/** A join takes the place of what the source itself joins there. */
function withoutReplaced(schema: GraphQLSchema, names: Names, joins: readonly ContributedField[]): Names {
  const replaced = new Set(joins.map(({ parent, name }) => `${parent}.${name}`))
  const kept = new Map(names)
  for (const type of Object.values(schema.getTypeMap()))
    for (const field of 'getFields' in type ? Object.values(type.getFields()) : []) {
      const { coordinate } = partOf(type.name, field.name)
      const place = `${names.get(type.name) ?? ''}.${names.get(coordinate) ?? ''}`
      if (replaced.has(place) && field.extensions['requires'] !== undefined) kept.set(coordinate, null)
    }
  return kept
}

/** Defaults that the scalars which clients know cannot hold. */
function unfitDefaults(schema: GraphQLSchema, ownValues: OwnValues): readonly Finding[] {
  const found: Finding[] = []
  const check = (coordinate: string, element: GraphQLArgument | GraphQLInputField): void => {
    try {
      ownValues.defaultOf(element.type, defaultValueOf(element))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      found.push({
        message: `rename: the default of ${coordinate} is not valid for the new scalar (${error.message}); keep the name of the scalar, or change the default`,
        path: ['rename', getNamedType(element.type).name],
      })
    }
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields()))
        check(partOf(type.name, field.name).coordinate, field)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields()))
      for (const argument of field.args)
        check(argumentAt(partOf(type.name, field.name).coordinate, argument.name), argument)
  }
  return found
}

/** The parent and name of a join are the server's; its type and what it states are the source's. */
function contributedTo(
  { schema, names, ownValues }: Omit<Naming, 'typeOf'>,
  field: ContributedField,
): ContributedField[] {
  const { parent, name, args = {}, extensions = {}, isJoin = false } = field
  // The arguments of a join are called as they are: its place is none of the source's own.
  const coordinate = isJoin ? '' : partOf(parent, name).coordinate
  const clientName = isJoin ? name : clientOf(names, coordinate, name)
  const clientParent = isJoin ? parent : clientOf(names, parent)
  if (clientName === undefined || clientParent === undefined) return []
  if (clientOf(names, namedIn(String(field.type))) === undefined) return []
  const asOwn = Object.entries(args).map(([argument, given]) => {
    const full: ContributedArgument = typeof given === 'string' ? { type: given } : given
    const type = typeFromAST(schema, parseType(String(full.type)) as never) as unknown
    // In values of another source's type everything is called as that source says.
    return { ...full, name: argument, type: isInputType(type) ? type : GraphQLString } as GraphQLArgument
  })
  const toOwn = ownValues.arguments(coordinate, asOwn)
  const toValue = valuesFor(names, namedIn(String(field.type)), `${clientParent}.${clientName}`)
  return [
    {
      ...field,
      parent: clientParent,
      name: clientName,
      type: textOf(names, field.type),
      args: Object.fromEntries(
        Object.entries(args).flatMap(([argument, given], index) => {
          const client = clientOf(names, argumentAt(coordinate, argument), argument)
          if (client === undefined) return []
          const full: ContributedArgument = typeof given === 'string' ? { type: given } : given
          const defaultValue = ownValues.defaultOf((asOwn[index] as GraphQLArgument).type, full.defaultValue)
          return [[client, { ...full, type: textOf(names, full.type), defaultValue }]]
        }),
      ),
      resolve: withValues(withOwnArguments(field.resolve, toOwn), toValue),
      subscribe: withOwnArguments(field.subscribe, toOwn),
      extensions: {
        ...renamedStatements(extensions ?? {}, meantBy(names)),
        ...(clientName !== name && { ownName: name }),
      },
    },
  ]
}

function textOf(names: Names, type: unknown): string {
  return String(type).replaceAll(/\w+/g, (name) => names.get(name) ?? name)
}
