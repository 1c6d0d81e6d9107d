import {
  GraphQLList,
  GraphQLNonNull,
  isListType,
  isNonNullType,
  GraphQLObjectType,
  specifiedScalarTypes,
  typeFromAST,
  type GraphQLNamedType,
  type GraphQLType,
  type TypeNode,
} from 'graphql'

/** Gives the type that is made for another one; lists and non-null types keep what they are around it. */
export type TypeOf = <T extends GraphQLType>(type: T) => T

/** Returns what makes types around those that `named` gives. */
export function createTypeOf(named: (type: GraphQLNamedType) => GraphQLNamedType): TypeOf {
  return function typeOf<T extends GraphQLType>(type: T): T {
    if (isNonNullType(type)) return new GraphQLNonNull(typeOf(type.ofType)) as unknown as T
    if (isListType(type)) return new GraphQLList(typeOf(type.ofType)) as unknown as T
    return named(type as GraphQLNamedType) as T
  }
}

/**
 * Returns the type of a type node, from `named` and GraphQL's own scalars. Unknown names become an object type
 * without fields. The schema merger replaces it by the type of another source.
 */
export function typeIn<T extends GraphQLType>(
  node: TypeNode,
  named: (name: string) => GraphQLNamedType | undefined,
): T {
  const getType = (name: string): GraphQLNamedType =>
    named(name) ??
    specifiedScalarTypes.find((scalar) => scalar.name === name) ??
    new GraphQLObjectType({ name, fields: {} })
  return typeFromAST({ getType } as never, node as never) as unknown as T
}
