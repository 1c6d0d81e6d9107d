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
 * The type that is written as `node`, of those that `named` gives and GraphQL's own scalars. One of any other name is an
 * object type without fields, for which the one of another source stands when schemas are merged.
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
