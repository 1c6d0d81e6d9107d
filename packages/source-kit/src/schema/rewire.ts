import {
  getNamedType,
  GraphQLDirective,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLUnionType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  isUnionType,
  type GraphQLFieldConfigMap,
  type GraphQLNamedType,
  type GraphQLType,
} from 'graphql'
import { withOwnScalars } from './own-scalars.ts'
import { createTypeOf, type TypeOf } from './type-of.ts'

type Types = ReadonlyMap<string, GraphQLNamedType>

/**
 * Types that refer to each other as they are now, where some refer to former selves, which have the same names: whichever
 * refers to another type than is there is made anew, and so is whoever refers to that, and all that `isRemade` says.
 */
export function rewire(
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
