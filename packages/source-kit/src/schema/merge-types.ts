import { isPromise, isRecord } from '@vinyasa/core'
import {
  GraphQLObjectType,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  isUnionType,
  OperationTypeNode,
  printType,
  specifiedDirectives,
  GraphQLDirective,
  type GraphQLNamedType,
  getNamedType,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLScalarType,
  GraphQLUnionType,
  isInterfaceType,
  GraphQLError,
  isListType,
  isNonNullType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLType,
} from 'graphql'
import { hiddenOf } from '../own/names.ts'
import { memberReader } from '../own/members.ts'
import { standInFor, standInOf, withOwnArguments } from '../own/stand-ins.ts'
import { exactLiteral, withoutBigInts } from '../json/json-scalar.ts'
import { SchemaConflictError } from './source.ts'
import { createTypeOf, type TypeOf } from './type-of.ts'

type Types = ReadonlyMap<string, GraphQLNamedType>

/**
 * Types that refer to each other as they are now, where some refer to former selves, which have the same names: whichever
 * refers to another type than is there is made anew, and so is whoever refers to that, and all that `isRemade` says.
 */
function rewire(
  types: Types,
  directives: readonly GraphQLDirective[],
  isRemade: (type: GraphQLNamedType) => boolean,
): { readonly types: Types; readonly directives: readonly GraphQLDirective[] } {
  const remade = outdated(types, isRemade)
  const made = new Map<string, GraphQLNamedType>()
  const typeOf = createTypeOf(named)

  function named(type: GraphQLNamedType): GraphQLNamedType {
    if (isBuiltIn(type)) return type
    const known = made.get(type.name)
    if (known) return known
    const present = types.get(type.name)
    const one = present && !remade.has(present) ? present : remake(present ?? type, typeOf)
    made.set(type.name, one)
    return one
  }

  for (const type of types.values()) named(type)
  return {
    types: made,
    directives: directives.map((directive) => {
      if (isSpecifiedDirective(directive)) return directive
      const config = directive.toConfig()
      return new GraphQLDirective({ ...config, args: retyped(config.args, typeOf) })
    }),
  }
}

function isBuiltIn(type: GraphQLNamedType): boolean {
  return isSpecifiedScalarType(type) || isIntrospectionType(type)
}

/** The types that are to be made anew. */
function outdated(types: Types, isRemade: (type: GraphQLNamedType) => boolean): Set<GraphQLNamedType> {
  const referrers = new Map<GraphQLNamedType, GraphQLNamedType[]>()
  const found = new Set<GraphQLNamedType>()
  for (const type of types.values()) {
    if (isRemade(type)) {
      found.add(type)
      continue
    }
    for (const other of referencesOf(type)) {
      if (isBuiltIn(other)) continue
      if (types.get(other.name) !== other) found.add(type)
      const known = referrers.get(other)
      if (known) known.push(type)
      else referrers.set(other, [type])
    }
  }
  // What is added meanwhile is visited too.
  for (const type of found) for (const referrer of referrers.get(type) ?? []) found.add(referrer)
  return found
}

function referencesOf(type: GraphQLNamedType): Set<GraphQLNamedType> {
  const found = new Set<GraphQLNamedType>()
  if (isUnionType(type)) for (const member of type.getTypes()) found.add(member)
  if (isInputObjectType(type))
    for (const field of Object.values(type.getFields())) found.add(getNamedType(field.type))
  if (!isObjectType(type) && !isInterfaceType(type)) return found
  for (const implemented of type.getInterfaces()) found.add(implemented)
  for (const field of Object.values(type.getFields())) {
    found.add(getNamedType(field.type))
    for (const argument of field.args) found.add(getNamedType(argument.type))
  }
  return found
}

function remake(type: GraphQLNamedType, typeOf: TypeOf): GraphQLNamedType {
  if (isScalarType(type)) return new GraphQLScalarType(type.toConfig())
  if (isEnumType(type)) return new GraphQLEnumType(type.toConfig())
  if (isInputObjectType(type)) {
    const config = type.toConfig()
    return new GraphQLInputObjectType({ ...config, fields: () => retyped(config.fields, typeOf) })
  }
  if (isUnionType(type)) {
    const config = type.toConfig()
    return new GraphQLUnionType({ ...config, types: () => config.types.map(typeOf) })
  }
  if (isInterfaceType(type)) {
    const config = type.toConfig()
    return new GraphQLInterfaceType({ ...config, ...compositeParts(config, typeOf) })
  }
  const config = type.toConfig()
  return new GraphQLObjectType({ ...config, ...compositeParts(config, typeOf) })
}

function compositeParts(
  {
    fields,
    interfaces,
  }: {
    readonly fields: GraphQLFieldConfigMap<unknown, unknown>
    readonly interfaces: readonly GraphQLInterfaceType[]
  },
  typeOf: TypeOf,
) {
  return {
    fields: () => {
      const own = Object.entries(fields).map(
        ([name, field]) => [name, withOwnScalars(name, field, typeOf)] as const,
      )
      for (const [, field] of own) retyped(field.args ?? {}, typeOf)
      return retyped(Object.fromEntries(own), typeOf)
    },
    interfaces: () => interfaces.map(typeOf),
  }
}

/** Configs are copies that nobody else holds. */
function retyped<Parts extends Readonly<Record<string, { type: GraphQLType }>>>(
  parts: Parts,
  typeOf: TypeOf,
): Parts {
  for (const part of Object.values(parts)) part.type = typeOf(part.type)
  return parts
}

/** A schema that is being put together. Types may refer to each other's former selves: they meet by name. */
export interface Draft {
  readonly types: Map<string, GraphQLNamedType>
  readonly roots: Map<OperationTypeNode, string>
  readonly directives: Map<string, GraphQLDirective>
  /** Types as somebody else has them, who keeps them as they are. */
  readonly given: Set<GraphQLNamedType>
  readonly base: GraphQLSchema | null
}

const ROOTS: Readonly<Record<string, OperationTypeNode>> = {
  Query: OperationTypeNode.QUERY,
  Mutation: OperationTypeNode.MUTATION,
  Subscription: OperationTypeNode.SUBSCRIPTION,
}

export function draftOf(schema: GraphQLSchema | null): Draft {
  const draft: Draft = {
    types: new Map(),
    roots: new Map(),
    directives: new Map(),
    given: new Set(),
    base: schema,
  }
  if (schema) addSchema(draft, schema)
  return draft
}

/**
 * Object types of one name become one type with the fields of both. Scalars of one name become one that takes the values of
 * both sources, but a scalar of the server's own schema is kept.
 * @throws SchemaConflictError naming both origins when a field, or another kind of type, is in both
 */
export function addSchema(draft: Draft, addition: GraphQLSchema): void {
  const { types, roots, given, base } = draft
  const renamed = new Map<string, string>()
  for (const root of Object.values(ROOTS)) {
    const own = addition.getRootType(root)
    if (!own) continue
    if (!roots.has(root)) roots.set(root, own.name)
    renamed.set(own.name, roots.get(root) as string)
  }
  for (const type of Object.values(addition.getTypeMap())) {
    if (isBuiltIn(type)) continue
    const name = renamed.get(type.name) ?? type.name
    const existing = types.get(name)
    types.set(name, existing ? combine(existing, type, base) : type)
    given.add(type)
  }
  addDirectives(draft, addition.getDirectives())
}

/** Those of one name are the one that came first. */
export function addDirectives({ directives }: Draft, added: readonly GraphQLDirective[]): void {
  for (const directive of added)
    if (!directives.has(directive.name)) directives.set(directive.name, directive)
}

/** The object type that a field's `parent` stands for; undefined where there is none yet. */
export function objectTypeOf({ types, roots }: Draft, parent: string): GraphQLObjectType | undefined {
  const root = ROOTS[parent]
  const type = types.get((root && roots.get(root)) ?? parent)
  if (type === undefined || isObjectType(type)) return type
  throw new SchemaConflictError(`type "${parent}" is not an object type, so fields cannot be added to it`)
}

/** Makes an object type that nobody has. */
export function declareType({ types, roots }: Draft, name: string, description: string | undefined): void {
  types.set(name, new GraphQLObjectType({ name, description, fields: {} }))
  const root = ROOTS[name]
  if (root) roots.set(root, name)
}

/** Makes a schema of the draft. Its types are its own; those that were given may be among them where a `step` is to follow. */
export function finish(draft: Draft, base: GraphQLSchema | null, isStep: boolean): GraphQLSchema {
  const { types, roots, directives, given } = draft
  const isSpecified = [...directives.values()].some(isSpecifiedDirective)
  const made = rewire(types, [...directives.values()], (type) => !isStep && given.has(type))
  const root = (operation: OperationTypeNode): GraphQLObjectType | undefined =>
    made.types.get(roots.get(operation) ?? '') as GraphQLObjectType | undefined
  return new GraphQLSchema({
    ...base?.toConfig(),
    // Not what a plugin has noted by a symbol, as that it has wrapped every resolver: there are more of them now.
    extensions: Object.fromEntries(Object.entries(base?.extensions ?? {})),
    assumeValid: false,
    query: root(OperationTypeNode.QUERY),
    mutation: root(OperationTypeNode.MUTATION),
    subscription: root(OperationTypeNode.SUBSCRIPTION),
    types: [...made.types.values()],
    directives: [...(isSpecified ? [] : specifiedDirectives), ...made.directives],
  })
}

function combine(
  existing: GraphQLNamedType,
  added: GraphQLNamedType,
  base: GraphQLSchema | null,
): GraphQLNamedType {
  if (isObjectType(existing) && isObjectType(added)) return combineObjects(existing, added)
  if (isScalarType(existing) && isScalarType(added))
    return base?.getType(existing.name) === existing ? existing : sharedScalar(existing, added)
  const isSame =
    ((isEnumType(existing) && isEnumType(added)) ||
      (isInputObjectType(existing) && isInputObjectType(added)) ||
      (isUnionType(existing) && isUnionType(added))) &&
    withoutDescriptions(existing) === withoutDescriptions(added)
  if (isSame) return existing
  throw new SchemaConflictError(
    `two types are called "${existing.name}", one from ${originOf(existing.extensions)} and one from ${originOf(added.extensions)}; rename one of the types`,
    [originOf(existing.extensions), originOf(added.extensions)],
  )
}

function combineObjects(existing: GraphQLObjectType, added: GraphQLObjectType): GraphQLObjectType {
  const config = existing.toConfig()
  const extra = added.toConfig()
  for (const [name, field] of Object.entries(extra.fields)) {
    const first = config.fields[name]
    if (first)
      throw fieldConflict(
        `${existing.name}.${name}`,
        originOf(first.extensions, existing),
        originOf(field.extensions, added),
      )
  }
  const interfaces = extra.interfaces.filter(
    ({ name }) => !config.interfaces.some((other) => other.name === name),
  )
  // The merged type has the hidden fields of both types.
  const hidden = [...hiddenOf(config.extensions), ...hiddenOf(extra.extensions)]
  return new GraphQLObjectType({
    ...config,
    description: config.description ?? extra.description,
    extensions: { ...extra.extensions, ...config.extensions, ...(hidden.length > 0 && { hidden }) },
    fields: { ...config.fields, ...extra.fields },
    interfaces: [...config.interfaces, ...interfaces],
  })
}

export function fieldConflict(field: string, first: string, second: string): SchemaConflictError {
  return new SchemaConflictError(
    `field ${field} is defined twice, by ${first} and by ${second}; rename one of the fields`,
    [first, second],
  )
}

/** Returns where a field comes from, or else where its type does. */
export function originOf(extensions: unknown, type?: GraphQLObjectType): string {
  return readOrigin(extensions) ?? readOrigin(type?.extensions) ?? "the server's own schema"
}

function readOrigin(extensions: unknown): string | undefined {
  if (typeof extensions !== 'object' || extensions === null || !('origin' in extensions)) return undefined
  return typeof extensions.origin === 'string' ? extensions.origin : undefined
}

function withoutDescriptions(type: GraphQLNamedType): string {
  return printType(type)
    .replace(/"""[\s\S]*?"""\n?/g, '')
    .replace(/\s+/g, ' ')
}

const asGiven = (value: unknown): unknown => value

/** Returns the scalar for two sources that define one name: it takes all values, which each source parses and serializes. */
function sharedScalar(first: GraphQLScalarType, second: GraphQLScalarType): GraphQLScalarType {
  const isSame = first.parseValue === second.parseValue && first.serialize === second.serialize
  if (first.parseValue === asGiven || isSame) return first
  return new GraphQLScalarType({
    ...first.toConfig(),
    serialize: withoutBigInts,
    parseValue: asGiven,
    parseLiteral: exactLiteral,
  })
}

/** Has a field parse its arguments and serialize its values by the scalars of its own source. */
function withOwnScalars(
  name: string,
  config: GraphQLFieldConfig<unknown, unknown>,
  typeOf: TypeOf,
): GraphQLFieldConfig<unknown, unknown> {
  const { args = {}, type } = config
  const isReplaced = (own: GraphQLScalarType): boolean => {
    const { parseValue } = typeOf(own)
    return parseValue === asGiven && own.parseValue !== asGiven
  }
  const named = getNamedType(type)
  let { resolve, subscribe } = config
  if (isScalarType(named) && isReplaced(named)) resolve = serializing(resolve ?? memberReader(name), type)
  // The configs get other types later.
  const parsed = Object.entries(args)
    .map(([key, arg]) => [key, arg.type] as const)
    .filter(([, own]) => usesReplaced(own, isReplaced, new Set()))
  if (parsed.length > 0) {
    const toOwn = (given: Readonly<Record<string, unknown>>): Record<string, unknown> => {
      const values = { ...given }
      for (const [key, own] of parsed)
        if (Object.hasOwn(given, key)) values[key] = parsedArgument(key, own, given[key])
      return values
    }
    resolve = withOwnArguments(resolve, toOwn)
    subscribe = withOwnArguments(subscribe, toOwn)
  }
  return { ...config, resolve, subscribe }
}

type Resolve = NonNullable<GraphQLFieldConfig<unknown, unknown>['resolve']>

function serializing(resolver: Resolve, returnType: GraphQLOutputType): Resolve {
  return standInFor<Resolve>(
    (source, args, context, info) =>
      serialized(returnType, resolver(source, args, context, { ...info, returnType })),
    { ...standInOf(resolver), type: returnType, written: returnType },
  )
}

/** Each value that its scalar refuses is an error at its place. */
function serialized(type: GraphQLOutputType, value: unknown): unknown {
  if (value === null || value === undefined || value instanceof Error) return value
  if (isPromise(value)) return value.then((later) => serialized(type, later))
  if (isNonNullType(type)) return serialized(type.ofType, value)
  if (isListType(type))
    return Array.isArray(value) ? value.map((item) => serialized(type.ofType, item)) : value
  try {
    return (type as GraphQLScalarType).serialize(value)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function usesReplaced(
  type: GraphQLInputType,
  isReplaced: (own: GraphQLScalarType) => boolean,
  seen: Set<GraphQLNamedType>,
): boolean {
  const named = getNamedType(type)
  if (seen.has(named)) return false
  seen.add(named)
  if (isScalarType(named)) return isReplaced(named)
  return (
    isInputObjectType(named) &&
    Object.values(named.getFields()).some((one) => usesReplaced(one.type, isReplaced, seen))
  )
}

function parsedArgument(name: string, type: GraphQLInputType, value: unknown): unknown {
  try {
    return parsedBy(type, value)
  } catch (cause) {
    const { message } = cause as Error
    throw new GraphQLError(`Argument "${name}" has an invalid value: ${message}`, {
      originalError: cause as Error,
      extensions: { code: 'BAD_USER_INPUT' },
    })
  }
}

function parsedBy(type: GraphQLInputType, value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (isNonNullType(type)) return parsedBy(type.ofType, value)
  if (isListType(type)) return Array.isArray(value) ? value.map((item) => parsedBy(type.ofType, item)) : value
  if (isScalarType(type)) return type.parseValue(value)
  if (!isInputObjectType(type) || !isRecord(value)) return value
  const fields = type.getFields()
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = fields[key]
      return [key, field ? parsedBy(field.type, item) : item]
    }),
  )
}
