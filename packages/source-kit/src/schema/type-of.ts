import {
  GraphQLList,
  GraphQLNonNull,
  isListType,
  isNonNullType,
  type GraphQLNamedType,
  type GraphQLType,
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
